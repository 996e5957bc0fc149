"""Deadlines under every policy: what is given to meet them, and who is warned of what."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import DeadlineWarning
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import MetricTarget
from tests.planning.builders import NOW, cluster, measured, running, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

PERFECT = measured((1, 100), (2, 200), (3, 300), (4, 400))
HOUR = 360_000  # samples at 100 a second
ELASTIC = sorted(set(BUILT_IN.names) - {"static", "fixed_batch"})


def old(name: str, workers: int, team: str = "vision", **overrides: object) -> PlannedJob:
    """An hour of work on one GPU; so old that a change costs it nothing but what it must gain."""
    values = {"started_at": NOW - 10**6, "measurements": PERFECT, "remaining_samples": HOUR}
    return running(name, workers, team, **(values | overrides))  # type: ignore[arg-type]


GIVEN: dict[str, tuple[tuple[PlannedJob, ...], dict[str, str]]] = {
    "what is enough comes before shorter jobs, which get the rest": (
        (old("due", 1, deadline=NOW + 2200), old("short", 3, remaining_samples=HOUR // 100)),
        {"due": "rescale 2", "short": "rescale 2"},
    ),
    "a job with time in hand leaves what it does not need to others": (
        (old("due", 3, deadline=NOW + 9000), old("other", 1)),
        {"due": "rescale 1", "other": "rescale 3"},
    ),
    "two are met rather than one with more than it needs": (
        (old("a", 3, deadline=NOW + 2000), old("b", 1, deadline=NOW + 2000)),
        {"a": "rescale 2", "b": "rescale 2"},
    ),
    "where not all can be met, as many as possible are": (
        (
            old("large", 2, deadline=NOW + 1400),
            old("small", 1, deadline=NOW + 2000),
            old("other", 1, deadline=NOW + 4000),
        ),
        {"large": "rescale 1", "small": "rescale 2", "other": "keep 1"},
    ),
    "one that follows a metric of its own is not steered by its deadline": (
        (
            old(
                "queue",
                1,
                deadline=NOW + 1700,
                scale_on=MetricTarget(metric="queue", grow_above=10.0, shrink_below=1.0),
            ),
        ),
        {"queue": "keep 1"},
    ),
}


@pytest.mark.parametrize("sentence", GIVEN)
def test_what_a_deadline_gives(sentence: str) -> None:
    jobs, expected = GIVEN[sentence]
    state = cluster(*jobs, nodes=(4,), quotas={})
    assert summary(plan(state)) == expected
    assert check(state, plan(state)) == ()


@pytest.mark.parametrize("policy", ELASTIC)
def test_under_every_policy_the_fewest_gpus_that_are_enough_are_given_first(policy: str) -> None:
    rivals = (old("rival", 2), old("other", 1))
    due = old("due", 1, deadline=NOW + 2200)
    state = cluster(*rivals, due, nodes=(4,), quotas={}, policy=policy)
    assert summary(plan(state)) == {"rival": "rescale 1", "other": "keep 1", "due": "rescale 2"}


@pytest.mark.parametrize("policy", ["completion_time", "throughput", "elastic_fifo"])
def test_what_nobody_else_wants_it_gets_too(policy: str) -> None:
    state = cluster(old("due", 1, deadline=NOW + 9000), nodes=(4,), quotas={}, policy=policy)
    assert summary(plan(state)) == {"due": "rescale 4"}


NOT_MET: dict[str, dict[str, float | None]] = {
    "it can no longer be met": {"deadline": NOW + 60},
    "it has passed": {"deadline": NOW - 60},
    "nobody knows how long the job takes": {"deadline": NOW + 2200, "remaining_samples": None},
}


@pytest.mark.parametrize("because", NOT_MET)
def test_a_deadline_that_cannot_be_met_changes_nothing(because: str) -> None:
    late, others = old("late", 1, **NOT_MET[because]), (old("one", 3), old("two", 1))
    found, same = (
        plan(cluster(job, *others, nodes=(8,), quotas={}))
        for job in (late, replace(late, deadline=None))
    )
    assert summary(found) == summary(same)


def test_no_deadline_takes_what_another_team_is_guaranteed() -> None:
    due = old("due", 2, deadline=NOW + 1000)  # would need four
    own = old("own", 2, "language", remaining_samples=10**8)
    state = cluster(due, own, nodes=(4,), quotas={"vision": (2, None), "language": (2, None)})
    assert summary(plan(state)) == {"due": "keep 2", "own": "keep 2"}


def warned(deadline: float | None, workers: int = 1, **overrides: object) -> DeadlineWarning | None:
    values = {"remaining_samples": HOUR, "max_workers": workers, "measurements": PERFECT}
    job = running("a", workers, deadline=deadline, **(values | overrides))  # type: ignore[arg-type]
    return plan(cluster(job, quotas={})).decisions[0].deadline_warning


def test_a_job_that_ends_in_time_is_not_warned_of() -> None:
    assert warned(NOW + 3700) is None
    assert warned(None) is None


def test_a_job_that_will_end_late_is_warned_of_with_its_predicted_end() -> None:
    warning = warned(NOW + 3300)
    assert warning is not None
    assert warning.expected_at == pytest.approx(NOW + 3600, abs=250)
    assert warning.is_out_of_reach


def test_a_deadline_that_a_larger_size_would_meet_is_not_out_of_reach() -> None:
    rival = running("b", 3, min_workers=3, max_workers=3)
    late = running(
        "a", 1, deadline=NOW + 3000, remaining_samples=HOUR, max_workers=2, measurements=PERFECT
    )
    warning = plan(cluster(late, rival, quotas={})).decisions[0].deadline_warning
    assert warning is not None
    assert not warning.is_out_of_reach
    assert warning.soonest_at == pytest.approx(NOW + 1800, abs=150)


def test_a_job_of_unknown_length_is_not_warned_of() -> None:
    assert warned(NOW + 1, remaining_samples=None) is None


def test_a_waiting_job_is_warned_of_once_even_its_fastest_size_is_too_slow() -> None:
    rival = running("b", 4, min_workers=4, submitted_at=NOW - 5000)

    def waits(deadline: float) -> DeadlineWarning | None:
        job = waiting(
            "a",
            deadline=deadline,
            remaining_samples=HOUR,
            measurements=PERFECT,
            started_at=NOW - 900,
        )
        return plan(cluster(job, rival, quotas={})).decisions[0].deadline_warning

    assert waits(NOW + 1000) is None
    warning = waits(NOW + 800)
    assert warning is not None
    assert warning.expected_at is None
    assert warning.is_out_of_reach
