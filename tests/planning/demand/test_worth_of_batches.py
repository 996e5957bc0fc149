"""Does a job keep to the batches that its gradient noise supports, by goodput alone?

The goodput of a batch is computed here from the formulas in plain numbers, not by the planner.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.demand import demand_of
from autoscaler.planning.demand.batch import EXACT_UP_TO, MIN_BATCH_GAIN
from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedNode, PlannedPool
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import ThroughputModel
from tests.campaigns import examples
from tests.planning.builders import running, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

GPUS = 8
POOL = PlannedPool(name="default", nodes=(PlannedNode(name="n1", gpus=GPUS),))
NEXT_TO_THE_BEST = 1e-9  # of a goodput: rounding
ON_A_GRID = 0.02  # of a goodput: the best batch may lie between two that were tried


def goodput(job: PlannedJob, workers: int, samples: int) -> float:
    """T * EFF of a job on one node, with a known noise scale."""
    assert job.scaling is not None
    assert job.noise_scale is not None
    model, share = job.scaling.throughput, math.ceil(samples / workers)
    pieces = math.ceil(share / job.batch.max_per_gpu) if job.batch.max_per_gpu else 1
    computation = model.compute_fixed * pieces + model.compute_per_sample * share
    exchange = model.in_node_fixed + model.in_node_per_worker * max(workers - 2, 0)
    power = model.overlap
    seconds = (computation**power + (exchange if workers > 1 else 0.0) ** power) ** (1 / power)
    phi, base = job.noise_scale, job.batch.base
    return samples / seconds * min((phi + base) / (phi + samples), 1.0)


@st.composite
def known_jobs(draw: st.DrawFn, *, batches: int) -> PlannedJob:
    """A waiting job whose speed and noise are known, with so many batches to choose from."""
    unit = draw(st.sampled_from((1, 8, 32)))
    base = unit * draw(st.integers(1, 16))
    seconds = st.floats(1e-4, 1.0)
    model = ThroughputModel(
        compute_fixed=draw(seconds),
        compute_per_sample=draw(st.floats(1e-5, 1e-2)),
        in_node_fixed=draw(seconds),
        in_node_per_worker=draw(st.floats(1e-4, 0.1)),
        cross_node_fixed=1.0,
        cross_node_per_worker=0.1,
        overlap=draw(st.floats(1.0, 4.0)),
    )
    rules = BatchRange(
        base=base, minimum=base, maximum=base + unit * (batches - 1), multiple_of=unit
    )
    return waiting(
        "a",
        max_workers=GPUS,
        batch=rules,
        noise_scale=draw(st.floats(0.1, 1e6)),
        scaling=ScalingModel(throughput=model, measured_workers=1, measured_batch=base),
    )


def best_smaller(job: PlannedJob, workers: int, chosen: int) -> float:
    """The highest goodput of the batches up to the chosen one."""
    rules = job.batch
    smaller = range(rules.minimum, chosen + 1, rules.multiple_of)
    return max(goodput(job, workers, samples) for samples in smaller if samples >= workers)


@examples(100)
@given(known_jobs(batches=EXACT_UP_TO))
def test_no_size_has_a_batch_of_which_a_smaller_one_brings_more(job: PlannedJob) -> None:
    for size in demand_of(job, POOL).sizes:
        here = goodput(job, size.workers, size.global_batch_size)
        least = (1 - NEXT_TO_THE_BEST) * best_smaller(job, size.workers, size.global_batch_size)
        assert here >= least


@examples(40)
@given(known_jobs(batches=2000))
def test_in_a_long_range_neither_but_for_the_distance_of_two_that_are_tried(
    job: PlannedJob,
) -> None:
    for size in demand_of(job, POOL).sizes:
        here = goodput(job, size.workers, size.global_batch_size)
        assert here >= (1 - ON_A_GRID) * best_smaller(job, size.workers, size.global_batch_size)


@examples(100)
@given(known_jobs(batches=EXACT_UP_TO), st.data())
def test_a_batch_is_held_on_to_only_while_it_is_almost_as_good(
    waits: PlannedJob, data: st.DataObject
) -> None:
    rules = waits.batch
    held = data.draw(st.sampled_from(range(rules.minimum, rules.maximum + 1, rules.multiple_of)))
    allocation = Allocation(workers_by_node=(("n1", 1),), global_batch_size=held)
    job = running("a", 1, max_workers=GPUS, batch=rules, noise_scale=waits.noise_scale)
    job = replace(job, scaling=waits.scaling, allocation=allocation)
    for size in demand_of(job, POOL).sizes:
        here = goodput(job, size.workers, size.global_batch_size)
        least = best_smaller(job, size.workers, size.global_batch_size)
        assert here >= (1 - MIN_BATCH_GAIN - NEXT_TO_THE_BEST) * least


@pytest.mark.parametrize("noise_scale", [1.0, 18.0, 100.0])
def test_a_worker_busy_with_computing_stays_at_the_base_batch_as_larger_ones_bring_nothing(
    noise_scale: float,
) -> None:
    """The time of a step is all but proportional to its samples, as on a full GPU."""
    model = ThroughputModel(
        compute_fixed=1e-6,
        compute_per_sample=0.01,
        in_node_fixed=1e-3,
        in_node_per_worker=1e-3,
        cross_node_fixed=1e-3,
        cross_node_per_worker=1e-3,
        overlap=1.0,
    )
    known = ScalingModel(throughput=model, measured_workers=1, measured_batch=16)
    rules = BatchRange(base=16, minimum=16, maximum=128)
    job = waiting("a", max_workers=1, batch=rules, noise_scale=noise_scale, scaling=known)
    (size,) = demand_of(job, POOL).sizes
    assert size.global_batch_size == 16
