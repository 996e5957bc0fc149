"""What a job could get: which sizes, which of them now, and at which speed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.demand import demand_of, demands_of
from autoscaler.planning.demand.sizes import MOST_SIZES, PoolShape, WorkerRules, allowed_sizes
from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedNode, PlannedPool
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import ThroughputModel
from tests.planning.builders import batch, measured, running, waiting

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

MODEL = ThroughputModel(
    compute_fixed=0.1,
    compute_per_sample=0.001,
    in_node_fixed=0.05,
    in_node_per_worker=0.01,
    cross_node_fixed=0.2,
    cross_node_per_worker=0.01,
    overlap=1.5,
)


def pool(nodes: int = 4, gpus: int = 8) -> PlannedPool:
    return PlannedPool(
        name="default", nodes=tuple(PlannedNode(name=f"n{i}", gpus=gpus) for i in range(nodes))
    )


def sizes(nodes: int = 4, gpus: int = 8, **rules: Any) -> tuple[int, ...]:
    job = waiting("a", **({"max_workers": 10**6} | rules))
    return allowed_sizes(WorkerRules.of(job), PoolShape.of(pool(nodes, gpus)))


def workers(demand: Demand) -> tuple[list[int], list[int]]:
    return [s.workers for s in demand.sizes], [s.workers for s in demand.larger]


def sure(job: PlannedJob, **known: int) -> PlannedJob:
    """The job with a model that is known exactly."""
    values = {"measured_workers": 1, "measured_batch": 64} | known
    return replace(job, scaling=ScalingModel(throughput=MODEL, **values))


def test_sizes_are_powers_of_two_in_a_node_and_then_whole_nodes() -> None:
    assert sizes() == (1, 2, 4, 8, 16, 24, 32)
    assert sizes(min_workers=3, max_workers=20) == (3, 4, 8, 16, 20)
    assert sizes(gpus_per_worker=2) == (1, 2, 4, 8, 12, 16)


def test_a_small_pool_offers_every_size() -> None:
    assert sizes(nodes=2, gpus=4) == (1, 2, 3, 4, 5, 6, 7, 8)


def test_a_worker_step_is_kept_everywhere() -> None:
    assert sizes(nodes=2, gpus=4, min_workers=2, worker_step=3) == (2, 5, 8)
    for count in sizes(min_workers=3, max_workers=30, worker_step=4):
        assert (count - 3) % 4 == 0
    assert sizes(min_workers=1, worker_step=2) == (1, 3, 7, 15, 23, 31)


def test_a_list_of_its_own_is_taken_as_it_is() -> None:
    assert sizes(allowed_workers=(1, 3, 64)) == (1, 3)


@pytest.mark.parametrize("rules", [{}, {"allowed_workers": tuple(range(1, 4000))}])
def test_the_number_of_sizes_is_bounded_in_the_largest_pool(rules: dict[str, Any]) -> None:
    found = sizes(nodes=12_500, **rules)
    assert len(found) <= MOST_SIZES
    assert found[:3] == ((1, 2, 4) if not rules else (1, 2, 3))
    assert found[-1] == (100_000 if not rules else 3999)


def test_an_unmeasured_job_may_have_its_smallest_size_only() -> None:
    demand = demand_of(waiting("a", min_workers=2, max_workers=16), pool())
    assert workers(demand) == ([2], [4, 8, 16])
    assert all(size.relative_error == 1.0 for size in (*demand.sizes, *demand.larger))


def test_a_job_that_nobody_can_measure_may_have_any_size() -> None:
    """As if it scaled with the square root of its workers; its batch stays."""
    job = waiting("a", max_workers=16, is_measurable=False, batch=batch(64, maximum=4096))
    demand = demand_of(job, pool())
    assert workers(demand) == ([1, 2, 4, 8, 16], [])
    assert [size.speedup for size in demand.sizes] == pytest.approx([1, 2**0.5, 2, 8**0.5, 4])
    assert {size.global_batch_size for size in demand.sizes} == {64}


def test_workers_that_do_not_share_the_work_are_never_faster_than_one() -> None:
    job = waiting("a", max_workers=4, is_measurable=False, shares_work=False)
    demand = demand_of(job, pool())
    assert workers(demand) == ([1], [2, 4])
    assert {size.speedup for size in (*demand.sizes, *demand.larger)} == {1.0}


def test_a_job_that_was_measured_once_may_have_any_size_however_unsure_its_model() -> None:
    job = waiting("a", max_workers=32, measurements=measured((1, 100)))
    assert demand_of(job, pool()).sizes[-1].relative_error > 0.25
    assert workers(demand_of(job, pool())) == ([1, 2, 4, 8, 16, 24, 32], [])


def test_a_gap_in_the_list_of_sizes_holds_nobody_back() -> None:
    job = waiting("a", max_workers=16, allowed_workers=(1, 8, 16), measurements=measured((1, 100)))
    assert workers(demand_of(job, pool())) == ([1, 8, 16], [])


def test_a_model_from_another_gpu_type_does_not_let_a_job_grow_here() -> None:
    job = sure(waiting("a", max_workers=32), measured_workers=0)
    assert workers(demand_of(job, pool())) == ([1], [2, 4, 8, 16, 24, 32])


def test_while_the_noise_is_unknown_the_batch_at_most_doubles() -> None:
    job = sure(running("a", 1, max_workers=8, batch=batch(64, maximum=4096)), measured_batch=64)
    assert {size.global_batch_size for size in demand_of(job, pool()).sizes} == {128}


def test_a_start_takes_the_base_batch_or_what_was_measured() -> None:
    job = waiting("a", batch=batch(64, maximum=4096))
    assert demand_of(sure(job, measured_batch=0), pool()).sizes[0].global_batch_size == 64
    assert demand_of(sure(job, measured_batch=512), pool()).sizes[0].global_batch_size == 512


def test_known_noise_chooses_the_batch_of_the_highest_goodput() -> None:
    def best(noise: float) -> tuple[int, ...]:
        job = sure(running("a", 1, max_workers=8, batch=batch(64, maximum=4096), noise_scale=noise))
        return tuple(size.global_batch_size for size in demand_of(job, pool()).sizes)

    quiet, loud = best(50.0), best(1e6)
    assert all(few < many for few, many in zip(quiet, loud, strict=True))
    assert list(quiet) == sorted(quiet)
    assert loud[0] == 4096


def test_a_speedup_compares_goodputs_and_a_rate_counts_samples() -> None:
    job = sure(waiting("a", max_workers=8, batch=batch(64, maximum=4096), noise_scale=500.0))
    base = 64 / (MODEL.compute_fixed + 64 * MODEL.compute_per_sample)
    for size in demand_of(job, pool()).sizes:
        worth = (500 + 64) / (500 + size.global_batch_size)
        assert size.efficiency == pytest.approx(worth)
        assert size.speedup == pytest.approx(size.samples_per_second * worth / base)


@pytest.mark.parametrize("noise", [0.0, -1.0, float("nan"), float("inf")])
def test_noise_that_is_no_number_is_not_known(noise: float) -> None:
    job = sure(waiting("a", batch=batch(64, maximum=4096)))
    assert demand_of(replace(job, noise_scale=noise), pool()).sizes == demand_of(job, pool()).sizes


def test_a_job_that_holds_an_odd_number_may_stay_there() -> None:
    on = (("n0", 5),)
    demand = demand_of(sure(running("a", 5, max_workers=8, on=on)), pool())
    assert workers(demand) == ([1, 2, 4, 5, 8], [])
    assert demand.present is not None
    assert demand.present.workers == 5


def test_a_job_spread_over_nodes_is_slower_now_than_it_would_be_packed() -> None:
    allocation = Allocation(workers_by_node=(("n0", 1), ("n1", 1)), global_batch_size=64)
    job = sure(running("a", 2, max_workers=2, allocation=allocation))
    demand = demand_of(job, pool())
    assert demand.present is not None
    assert demand.present.samples_per_second < demand.sizes[-1].samples_per_second


def test_many_jobs_at_once_have_the_demands_of_each_alone() -> None:
    jobs = [
        waiting("a"),
        sure(running("b", 2, on=(("n1", 2),))),
        running("c", 1, on=(("n2", 1),), batch=batch(64, maximum=1024)),
    ]
    assert demands_of(jobs, pool()) == [demand_of(job, pool()) for job in jobs]
