"""Does a job get away from the size that it was measured at, though that measurement is wrong?"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.demand.trials import PATIENCE_SECONDS
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import Allocation
from tests.planning.builders import NOW, cluster, running
from tests.planning.speed.explorations import SIX, measured_at

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, StepTime
    from autoscaler.simulation.engine.truth.profiles import Profile

LONG_AGO = NOW - PATIENCE_SECONDS
BY_NAME = {profile.name: profile for profile in SIX}
STUCK = BY_NAME["deepspeech2"]


def off(profile: Profile, workers: int, *, factor: float = 0.01) -> StepTime:
    """What a worker reports whose clock is wrong for good: a hundredth of the time of each step."""
    seen = measured_at(profile, profile.batch.base, workers, random.Random(0))  # noqa: S311 - chance
    return replace(seen, step_seconds=factor * seen.step_seconds)


def job(profile: Profile, *seen: StepTime, workers: int = 1, **overrides: Any) -> PlannedJob:
    values: dict[str, Any] = {
        "on": (("n1", workers),),
        "batch": profile.batch,
        "allocation": Allocation(
            workers_by_node=(("n1", workers),), global_batch_size=profile.batch.base
        ),
        "max_workers": 4,
        "remaining_samples": 10**9,
        "model_bytes": profile.model_bytes,
        "measurements": (),
        "scaling": fit(seen, model_bytes=profile.model_bytes, batch=profile.batch),
        "started_at": LONG_AGO,
    }
    return running("a", workers, **(values | overrides))


def workers_of(one: PlannedJob) -> int:
    (decision,) = plan(cluster(one, quotas={})).decisions
    assert decision.allocation is not None
    return decision.allocation.workers


@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_a_job_that_held_one_worker_for_long_tries_two_whatever_that_one_claims(
    profile: Profile,
) -> None:
    assert workers_of(job(profile, off(profile, 1))) >= 2


def test_not_before_it_held_that_for_a_while() -> None:
    young = job(STUCK, off(STUCK, 1), started_at=LONG_AGO + 1)
    assert workers_of(young) == 1
    changed = job(STUCK, off(STUCK, 1), last_rescaled_at=LONG_AGO + 1)
    assert workers_of(changed) == 1


def test_one_that_was_right_to_try_two_tries_four_after_as_long() -> None:
    tried = job(STUCK, off(STUCK, 1), off(STUCK, 2), workers=2)
    assert workers_of(tried) == 4
    assert workers_of(replace(tried, last_rescaled_at=LONG_AGO + 1)) == 2


def test_a_trial_that_brought_nothing_is_not_repeated() -> None:
    slow = replace(off(STUCK, 2), step_seconds=10 * off(STUCK, 1).step_seconds)
    assert workers_of(job(STUCK, off(STUCK, 1), slow)) == 1


def test_one_that_is_measured_with_more_workers_than_it_holds_tries_nothing() -> None:
    slow = replace(off(STUCK, 4), step_seconds=100 * off(STUCK, 1).step_seconds)
    assert workers_of(job(STUCK, off(STUCK, 1), slow)) == 1
