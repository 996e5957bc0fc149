"""Is a slow worker replaced where that can help, and only there?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action, Decision
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, Straggler
from tests.planning.builders import NOW, cluster, running, said, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

SLOW: Final = Straggler(worker_id="a-1-2", node="n1", relative_speed=0.6)


def slowed(workers: int = 2, *, straggler: Straggler = SLOW, **more: Any) -> PlannedJob:
    """A job that has all workers it may have."""
    return running("a", workers, max_workers=workers, straggler=straggler, **more)


def decided(state: ClusterState) -> Decision:
    planned = plan(state)
    assert check(state, planned) == ()
    return next(decision for decision in planned.decisions if decision.job_id == "a")


def places(decision: Decision) -> dict[str, int]:
    assert decision.allocation is not None
    return dict(decision.allocation.workers_by_node)


def test_it_is_replaced_and_the_size_stays() -> None:
    decision = decided(cluster(slowed(), quotas={}))
    assert (decision.action, decision.reason) == (Action.RESCALE, JobReason.STRAGGLER)
    assert (decision.replaces, places(decision)) == ("a-1-2", {"n1": 2})
    assert decision.allocation == decision.previous


@pytest.mark.parametrize(
    ("nodes", "on", "avoided", "expected"),
    [
        ((3, 4), (("n1", 2),), (), {"n1": 2}),  # together, on another GPU
        ((2, 2, 2), (("n1", 2), ("n2", 1)), (), {"n1": 1, "n2": 2}),  # beside its others
        ((2, 4), (("n1", 2),), (), {"n1": 1, "n2": 1}),  # wherever there is room
        ((4, 4), (("n1", 2),), ("n1",), {"n1": 1, "n2": 1}),  # not where they are always slow
        ((4, 4), (("n1", 2),), ("n1", "n2"), None),
        ((2,), (("n1", 2),), (), None),
    ],
)
def test_the_substitute_comes_where_it_may_be_faster(
    nodes: tuple[int, ...],
    on: tuple[tuple[str, int], ...],
    avoided: tuple[str, ...],
    expected: dict[str, int] | None,
) -> None:
    workers = sum(count for _, count in on)
    job = slowed(workers, on=on, avoided_nodes=avoided, min_workers=workers)
    decision = decided(cluster(job, nodes=nodes, quotas={}))
    if expected is None:
        assert (decision.action, decision.replaces) == (Action.KEEP, None)
    else:
        assert (decision.reason, places(decision)) == (JobReason.STRAGGLER, expected)


def test_a_gpu_another_job_needs_is_not_free() -> None:
    state = cluster(slowed(3, min_workers=3), waiting("b"), quotas={})
    assert decided(state).action is Action.KEEP


@pytest.mark.parametrize(
    "job",
    [
        slowed(straggler=replace(SLOW, may_be_replaced=False)),
        slowed(last_rescaled_at=NOW - 5, min_interval_seconds=30.0),
        slowed(can_rescale=False),
    ],
)
def test_it_stays_when_it_may_not_be_replaced_now(job: PlannedJob) -> None:
    assert decided(cluster(job, quotas={})).action is Action.KEEP


def test_a_substitute_takes_all_gpus_of_a_worker() -> None:
    job = slowed(gpus_per_worker=2, min_workers=2)
    assert decided(cluster(job, nodes=(5,), quotas={})).action is Action.KEEP
    assert decided(cluster(job, nodes=(6,), quotas={})).action is Action.RESCALE


def test_two_jobs_do_not_get_the_same_gpu() -> None:
    other = running("b", 1, max_workers=1, straggler=replace(SLOW, worker_id="b-1-1"))
    state = cluster(slowed(), other, quotas={})
    planned = plan(state)
    assert check(state, planned) == ()
    assert [d.replaces for d in planned.decisions] == ["a-1-2", None]


def test_what_is_done_about_it_is_said_with_numbers() -> None:
    assert said(cluster(slowed(), quotas={}))["a"] == (
        "Replaces a-1-2, 40 % slower than the job's median worker: a substitute starts on another "
        "GPU of node n1, and the slow worker leaves when that is ready."
    )
    assert "a substitute starts on node n2" in said(cluster(slowed(), nodes=(2, 2), quotas={}))["a"]
    assert said(cluster(slowed(), nodes=(2,), quotas={}))["a"] == (
        "Keeps 2 workers, the most it may use. a-1-2 is 40 % slower than the job's median "
        "worker; no GPU that may replace it is free."
    )
    often = slowed(straggler=replace(SLOW, may_be_replaced=False))
    assert (
        "replacing others within the last hour has not helped"
        in said(cluster(often, quotas={}))["a"]
    )
