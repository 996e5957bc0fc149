"""Is a job that can never end found before anything is simulated, with why?"""

from __future__ import annotations

from typing import Any

import pytest

from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, TeamQuota
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant, Preemptibility
from autoscaler.simulation.engine.comparison import feasibility
from autoscaler.simulation.engine.comparison.feasibility import EndlessJobs, endless_in
from autoscaler.simulation.engine.replay.settings import Settings
from tests.simulation.workloads import job, pool, settings, trace

YEAR = 365 * 86_400.0


def found(one: dict[str, Any], world: Settings) -> EndlessJobs | None:
    return endless_in(trace(job("fine"), job("a", **one)), world)


def quota(**values: Any) -> Settings:
    one = TeamQuota(**{"team": "vision", "pool": "default", "guaranteed_gpus": 4} | values)
    return settings(pool(8), quotas=(one,))


@pytest.mark.parametrize(
    ("one", "world", "why"),
    [
        ({"min_workers": 9, "max_workers": 9}, settings(pool(4, 4)), "needs 9 GPUs, pool default"),
        ({"gpus_per_worker": 4}, settings(pool(2, 2)), "no allowed number of workers with 4 GPUs"),
        ({"allowed_workers": (8,), "max_workers": 8}, settings(pool(4)), "no allowed number"),
        ({"min_workers": 3, "max_workers": 3}, quota(limit_gpus=2), "limit of team vision is 2"),
        (
            {"preemptibility": Preemptibility.NON_PREEMPTIBLE, "min_workers": 5, "max_workers": 5},
            quota(),
            "Waits for 5 GPUs",
        ),
        (
            {
                "min_workers": 3,
                "max_workers": 3,
                "batch": BatchRange(base=2, minimum=2, maximum=2),
            },
            settings(pool(4)),
            "the range of batch sizes",
        ),
        (
            {"requested_workers": 8, "max_workers": 8},
            settings(pool(4, policy="static")),
            "needs 8 GPUs, pool default has 4",
        ),
        ({"samples": 100 * 11 * YEAR}, settings(pool(4)), "It would run for 11 years"),
    ],
)
def test_a_job_that_can_never_end_is_named_with_why(
    one: dict[str, Any], world: Settings, why: str
) -> None:
    endless = found(one, world)
    assert endless is not None
    assert (endless.job, endless.jobs) == ("a", 1)
    assert why in endless.why


@pytest.mark.parametrize(
    ("one", "world"),
    [
        ({"min_workers": 8, "max_workers": 64}, settings(pool(4, 4))),
        ({"requested_workers": 8, "max_workers": 8}, settings(pool(4))),
        ({"min_workers": 3, "max_workers": 3}, quota(limit_gpus=3)),
        ({"samples": 100 * 9 * YEAR}, settings(pool(4))),
        ({"samples": 100 * 11 * YEAR, "max_workers": 4}, settings(pool(4))),
        ({"samples": 100 * 11 * YEAR}, settings(pool(4), horizon_seconds=3600.0)),
        ({"deadline": 1.0}, settings(pool(4))),
        (
            {"min_workers": 9, "max_workers": 9},
            settings(pool(4, admission=AdmissionVariant.DROPPING)),
        ),
    ],
)
def test_a_job_that_can_end_is_not_refused(one: dict[str, Any], world: Settings) -> None:
    assert found(one, world) is None


def test_the_first_to_come_is_named_and_all_are_counted() -> None:
    too_large = {"min_workers": 9, "max_workers": 9}
    jobs = trace(
        job("later", at=9.0, **too_large),
        job("fine"),
        job("first", at=3.0, gpus_per_worker=5),
        job("last", at=99.0, **too_large),
    )
    endless = endless_in(jobs, settings(pool(4)))
    assert endless is not None
    assert (endless.job, endless.jobs) == ("first", 3)


def test_jobs_that_differ_in_their_users_alone_are_asked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counted(state: ClusterState, policies: Any) -> Plan:
        asked.append(len(state.jobs))
        return plan(state, policies)

    monkeypatch.setattr(feasibility, "plan", counted)
    alike = [
        job(f"j{number}", user=f"u{number}", min_workers=3, max_workers=3) for number in range(20)
    ]
    world = settings(
        pool(8),
        quotas=(TeamQuota(team="vision", pool="default", guaranteed_gpus=0, user_limit_gpus=2),),
    )
    endless = endless_in(trace(*alike), world)
    assert endless is not None
    assert (endless.job, endless.jobs, asked) == ("j0", 20, [1])
    assert "max_gpus_per_user" in endless.why
