"""How a job's batch moves from plan to plan: to its best one, and not to and fro.

The scenario is that of a small job whose gradient noise scale is estimated anew every few seconds,
each time by a factor wrong, while another job comes and goes.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.demand.batch_growth import BATCH_SETTLES_SECONDS
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import Allocation
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import ThroughputModel
from jobs.reports.noise_scale import smoothed
from tests.campaigns import examples
from tests.planning.builders import NOW, applied, batch, cluster, running, waiting
from tests.planning.random_states import BATCHES, states
from tests.planning.speed.explorations import SIX, measured_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
    from autoscaler.simulation.engine.truth.profiles import Profile

TICK_SECONDS = 5.0
MODEL = ThroughputModel(
    compute_fixed=0.05,
    compute_per_sample=0.0005,
    in_node_fixed=0.02,
    in_node_per_worker=0.005,
    cross_node_fixed=0.2,
    cross_node_per_worker=0.01,
    overlap=1.5,
)


def elastic(current: int = 64, *, measured: int | None = None, **overrides: Any) -> PlannedJob:
    """A job on one worker whose speed is known, with 64 to 4096 samples to choose from."""
    values = {"batch": batch(64, maximum=4096), "stall_seconds": 0.1} | overrides
    known = ScalingModel(throughput=MODEL, measured_workers=1, measured_batch=measured or current)
    return replace(
        running("digits", 1, **values),
        allocation=Allocation(workers_by_node=(("n1", 1),), global_batch_size=current),
        scaling=overrides.get("scaling", known),
    )


def next_batch(job: PlannedJob) -> int:
    (decision,) = plan(cluster(job, nodes=(1,), quotas={})).decisions
    assert decision.allocation is not None
    return decision.allocation.global_batch_size


def trained(job: PlannedJob) -> PlannedJob:
    """The job after it was measured with what it holds."""
    assert job.scaling is not None
    assert job.allocation is not None
    known = replace(
        job.scaling,
        measured_workers=max(job.scaling.measured_workers, job.allocation.workers),
        measured_batch=max(job.scaling.measured_batch, job.allocation.global_batch_size),
    )
    return replace(job, scaling=known)


def best_batch(noise: float) -> int:
    """Of the highest goodput on one worker, of all batches there are."""

    def goodput(samples: int) -> float:
        seconds = MODEL.compute_fixed + samples * MODEL.compute_per_sample
        return samples / seconds * (noise + 64) / (noise + samples)

    return max(range(64, 4097), key=goodput)


@pytest.mark.parametrize("noise", [300.0, 2000.0, 1e6])
def test_with_a_known_noise_scale_a_batch_goes_to_its_best_one_at_once(noise: float) -> None:
    assert next_batch(elastic(64, noise_scale=noise)) == pytest.approx(best_batch(noise), rel=0.1)


def test_neither_the_measured_batch_nor_the_time_since_holds_it_back_then() -> None:
    job = elastic(128, measured=64, noise_scale=1e6, last_rescaled_at=NOW - 1)
    assert next_batch(job) == 4096


def test_while_the_noise_is_unknown_a_batch_at_most_doubles() -> None:
    assert next_batch(elastic(64)) == 128


@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_a_job_that_was_measured_once_tries_twice_its_batch_at_some_size(profile: Profile) -> None:
    """Also where the model's size lets expect that more workers do not pay."""
    once = measured_at(profile, profile.batch.base, 1, random.Random(0))  # noqa: S311
    job = elastic(
        profile.batch.base,
        batch=profile.batch,
        scaling=fit([once], model_bytes=profile.model_bytes, batch=profile.batch),
        max_workers=4,
        remaining_samples=10**9,
    )
    (decision,) = plan(cluster(job, nodes=(4,), quotas={})).decisions
    assert decision.allocation is not None
    assert decision.allocation.global_batch_size == 2 * profile.batch.base


def test_below_the_base_batch_it_at_most_doubles_too() -> None:
    rules = batch(256, minimum=16, maximum=4096)
    assert next_batch(elastic(16, batch=rules)) == 32


def test_with_unknown_noise_a_batch_that_was_not_measured_yet_does_not_grow() -> None:
    assert next_batch(elastic(128, measured=64)) == 128


def test_with_unknown_noise_a_batch_grows_only_after_it_has_settled() -> None:
    """Even if larger ones are known."""
    job = elastic(128, measured=4096)
    ago = {True: BATCH_SETTLES_SECONDS, False: BATCH_SETTLES_SECONDS - 1}
    for has_settled, seconds in ago.items():
        changed = replace(job, last_rescaled_at=NOW - seconds)
        started = replace(job, running_since=NOW - seconds)
        wanted = 256 if has_settled else 128
        assert (next_batch(changed), next_batch(started)) == (wanted, wanted)


def test_a_batch_goes_all_the_way_where_half_of_it_would_hardly_pay() -> None:
    """Doubling brings 8 %, the whole way 18 %."""
    slow = replace(MODEL, compute_fixed=0.006)
    job = elastic(64, noise_scale=1e6)
    assert job.scaling is not None
    job = replace(job, scaling=replace(job.scaling, throughput=slow))
    assert next_batch(job) > 2048


def test_a_batch_shrinks_at_once_to_what_pays() -> None:
    assert next_batch(elastic(4096, noise_scale=100.0)) < 1024


@examples(60)
@given(states(calm=True), st.data())
def test_a_plan_applied_twice_changes_no_batch(state: ClusterState, data: st.DataObject) -> None:
    """With any noise, and whatever was measured before."""
    jobs = tuple(_with_a_range(job, data.draw) for job in state.jobs)
    state = replace(state, jobs=jobs)
    first = plan(state)
    assert check(state, first) == ()
    after = applied(state, first)
    second = plan(after)
    for decision in second.decisions:
        if decision.previous and decision.allocation:
            before, now = decision.previous, decision.allocation
            assert before.workers != now.workers or before == now


def _with_a_range(
    job: PlannedJob, draw: Callable[[st.SearchStrategy[object]], object]
) -> PlannedJob:
    known = draw(st.sampled_from((None, 10.0, 200.0, 1e5)))
    measured = draw(st.sampled_from((64, 512)))
    scaling = job.scaling and replace(job.scaling, measured_batch=measured)
    rules = draw(st.sampled_from(BATCHES))
    return replace(job, batch=rules, noise_scale=known, scaling=scaling)


def noisy_estimates(seed: int, *, median: float = 150.0, factor: float = 2.2) -> Iterator[float]:
    """Mostly wrong by up to `factor`, each near the one before, as averages over a window are."""
    rng = random.Random(seed)  # noqa: S311 - noise, not secrets
    error = rng.gauss(0, 1)
    while True:
        yield median * factor**error
        error = 0.9 * error + math.sqrt(1 - 0.9**2) * rng.gauss(0, 1)


def batches_of_ten_minutes(seed: int, *, is_smoothed: bool) -> list[int]:
    """The batches of a job beside which a guest takes two of four GPUs every other minute."""
    state = cluster(elastic(max_workers=4, remaining_samples=10**7), nodes=(4,), quotas={})
    noise: float | None = None
    batches = [64]
    for tick, estimate in zip(range(120), noisy_estimates(seed), strict=False):
        now = NOW + tick * TICK_SECONDS
        noise = smoothed(noise if is_smoothed else None, estimate, seconds=TICK_SECONDS)
        job, *guests = state.jobs
        if not tick // 12 % 2:
            guests = []
        elif not guests:
            guests = [waiting("guest", min_workers=2, max_workers=2, submitted_at=now)]
        job = replace(trained(job), noise_scale=noise)
        state = replace(state, jobs=(job, *guests), now=now)
        state = applied(state, plan(state))
        held = state.jobs[0].allocation
        assert held is not None
        batches.append(held.global_batch_size)
    return batches


@pytest.mark.parametrize(
    ("known", "reported", "seconds", "expected"),
    [
        (None, 400.0, 0.0, 400.0),
        (100.0, None, 1.0, 100.0),
        (100.0, 400.0, 0.0, 100.0),
        (100.0, 400.0, -5.0, 100.0),
        (100.0, 400.0, 10.0, 100 * 4 ** (1 - 0.5 ** (1 / 6))),
        (100.0, 25.0, 10.0, 100 / 4 ** (1 - 0.5 ** (1 / 6))),
        (100.0, 400.0, 3600.0, 100 * 4 ** (1 - 0.5 ** (1 / 6))),
    ],
)
def test_a_report_moves_what_is_known_by_the_time_that_passed(
    known: float | None, reported: float | None, seconds: float, expected: float
) -> None:
    assert smoothed(known, reported, seconds=seconds) == pytest.approx(expected)


def test_a_minute_of_reports_goes_half_the_way() -> None:
    noise: float | None = 100.0
    for _ in range(60):
        noise = smoothed(noise, 400.0, seconds=1.0)
    assert noise == pytest.approx(200.0)


def changes(batches: list[int]) -> int:
    return sum(before != after for before, after in pairwise(batches))


def test_noisy_estimates_of_the_noise_scale_do_not_swing_the_batch() -> None:
    """Four times ten minutes; the documentation tells the number of changes."""
    raw = [batches_of_ten_minutes(seed, is_smoothed=False) for seed in range(4)]
    calm = [batches_of_ten_minutes(seed, is_smoothed=True) for seed in range(4)]
    for batches in calm:  # ten seconds after the start they follow the smoothed estimate
        settled = batches[3:]
        assert max(max(pair) / min(pair) for pair in pairwise(settled)) < 3
    assert sum(map(changes, calm)) == 12
    assert sum(map(changes, calm)) < sum(map(changes, raw))
