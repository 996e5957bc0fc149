"""Pools that keep no queue: a sentence -> (state, what each job gets and why)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from tests.planning.builders import NOW, cluster, running, said, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob


def dropping(*jobs: PlannedJob, **settings: object) -> ClusterState:
    state = cluster(*jobs, **settings)  # type: ignore[arg-type] # as `cluster` takes them
    pool = replace(state.pools[0], admission=AdmissionVariant.DROPPING)
    return replace(state, pools=(pool,))


EXPECTED: dict[str, tuple[ClusterState, dict[str, str]]] = {
    "a new job that fits beside the smallest sizes of all others starts": (
        dropping(running("a", 4), waiting("b")),
        {"a": "rescale 3", "b": "start 1"},
    ),
    "a new job that does not fit beside them is dropped": (
        dropping(running("a", 4, min_workers=3), waiting("b", min_workers=2)),
        {"a": "keep 4", "b": "drop"},
    ),
    "a job that ran before waits": (
        dropping(running("a", 4, min_workers=3), waiting("b", min_workers=2, started_at=NOW - 99)),
        {"a": "keep 4", "b": "wait"},
    ),
    "a job within its team's guarantee is never dropped for one that borrows": (
        dropping(running("a", 4, min_workers=4), waiting("b", "language", min_workers=2)),
        {"a": "pause", "b": "start 2"},
    ),
    "GPUs of a change that is under way are as good as free": (
        dropping(
            running("a", 4, min_workers=1, can_rescale=False),
            waiting("b", submitted_at=NOW - 1),
            quotas={},
        ),
        {"a": "keep 4", "b": "wait"},
    ),
    "a job beyond its team's limit is dropped though GPUs are free": (
        dropping(
            running("a", 2, min_workers=2, max_workers=2), waiting("b"), quotas={"vision": (1, 2)}
        ),
        {"a": "keep 2", "b": "drop"},
    ),
    "a dropped job stands in nobody's way": (
        dropping(
            running("a", 2, min_workers=2, max_workers=2),
            waiting("big", min_workers=4, submitted_at=NOW - 900),
            waiting("small", min_workers=2),
        ),
        {"a": "keep 2", "big": "drop", "small": "start 2"},
    ),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_dropping(sentence: str) -> None:
    state, expected = EXPECTED[sentence]
    result = plan(state)
    assert summary(result) == expected
    assert check(state, result) == ()


def test_a_dropped_job_is_told_why_and_what_to_do() -> None:
    state = dropping(running("a", 4, min_workers=3), waiting("b", min_workers=2))
    result = plan(state)
    assert result.decisions[1].reason is JobReason.DROPPED
    assert said(state)["b"] == (
        "Refused: it needs 2 GPUs at least, and pool default drops what does not fit; 1 is left "
        "when every job there is at its smallest size. Submit it again later, with fewer "
        "min_workers, or to a pool that queues."
    )


def test_in_a_pool_that_queues_nothing_may_be_dropped() -> None:
    state = cluster(running("a", 4, min_workers=3), waiting("b", min_workers=2))
    result = plan(state)
    assert result.decisions[1].action is Action.WAIT
    wrong = replace(result.decisions[1], action=Action.DROP)
    broken = replace(result, decisions=(result.decisions[0], wrong))
    assert [violation.rule for violation in check(state, broken)] == ["only_new_jobs_are_dropped"]
