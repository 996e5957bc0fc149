"""Small builders: say only what a test is about."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.audience import seen_by
from autoscaler.planning.explanations.remedy_search import RemedySearch
from autoscaler.planning.explanations.sentences.remedy_sentences import render_remedy
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    Allocation,
    ClusterState,
    JobPhase,
    PlannedJob,
    PlannedNode,
    PlannedPool,
    StepTime,
    TeamQuota,
)
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.decisions.explanation import Remedy
    from autoscaler.planning.decisions.plan import Plan
    from autoscaler.planning.snapshot.cluster_state import PoolChange

NOW = 10_000.0


def batch(base: int = 64, **overrides: Any) -> BatchRange:
    return BatchRange(**({"base": base, "minimum": base, "maximum": base} | overrides))


def measured(*rates: tuple[int, float], batch_size: int = 64) -> tuple[StepTime, ...]:
    """Measurements from (workers, samples per second)."""
    return tuple(
        StepTime(
            workers=workers,
            nodes=1,
            global_batch_size=batch_size,
            steps=50,
            step_seconds=batch_size / rate,
        )
        for workers, rate in rates
    )


SCALES_WELL = measured((1, 100.0), (2, 190.0), (4, 350.0))
HARDLY_FASTER = measured((1, 100), (2, 170), (4, 200))
SCALES_BADLY = measured((1, 100.0), (2, 103.0), (4, 101.0))


def waiting(name: str, team: str = "vision", **overrides: Any) -> PlannedJob:
    values: dict[str, Any] = {
        "job_id": name,
        "name": name,
        "team": team,
        "pool": "default",
        "phase": JobPhase.WAITING,
        "priority": 50,
        "preemptibility": Preemptibility.PREEMPTIBLE,
        "submitted_at": NOW - 10,
        "min_workers": 1,
        "max_workers": 4,
        "allowed_workers": None,
        "gpus_per_worker": 1,
        "batch": batch(),
    }
    measurements = overrides.pop("measurements", ())
    job = PlannedJob(**(values | overrides))
    return learned(job, measurements) if measurements else job


def learned(job: PlannedJob, measurements: Sequence[StepTime]) -> PlannedJob:
    """The job as known from these measurements alone."""
    return replace(job, scaling=fit(measurements, model_bytes=job.model_bytes, batch=job.batch))


def running(name: str, workers: int, team: str = "vision", **overrides: Any) -> PlannedJob:
    """A job that has trained for a while on node n1, scales well, and has 100,000 samples to go."""
    nodes = overrides.pop("on", ((("n1", workers),) if workers else ()))
    values: dict[str, Any] = {
        "phase": JobPhase.ACTIVE,
        "allocation": Allocation(workers_by_node=nodes, global_batch_size=64),
        "submitted_at": NOW - 1000,
        "started_at": NOW - 1000,
        "remaining_samples": 100_000,
        "measurements": SCALES_WELL,
    }
    return waiting(name, team, **(values | overrides))


def cluster(
    *jobs: PlannedJob,
    nodes: Sequence[int] = (4,),
    quotas: dict[str, tuple[int, int | None]] | None = None,
    changes: Sequence[PoolChange] = (),
    policy: str = "completion_time",
) -> ClusterState:
    """One pool of nodes n1, n2, ... ; quotas as team -> (guaranteed, limit)."""
    teams = {"vision": (2, None), "language": (2, None)} if quotas is None else quotas
    return ClusterState(
        now=NOW,
        pools=(
            PlannedPool(
                name="default",
                policy=policy,
                nodes=tuple(
                    PlannedNode(name=f"n{i}", gpus=gpus) for i, gpus in enumerate(nodes, 1)
                ),
            ),
        ),
        quotas=tuple(
            TeamQuota(team=team, pool="default", guaranteed_gpus=guaranteed, limit_gpus=limit)
            for team, (guaranteed, limit) in teams.items()
        ),
        jobs=tuple(jobs),
        changes=tuple(changes),
    )


def applied(state: ClusterState, plan: Plan) -> ClusterState:
    """The state after the control loop has carried out everything the plan says."""
    decisions = {decision.job_id: decision for decision in plan.decisions}

    def after(job: PlannedJob) -> PlannedJob:
        decision = decisions[job.job_id]
        match decision.action:
            case Action.START:
                return replace(
                    job,
                    phase=JobPhase.ACTIVE,
                    allocation=decision.allocation,
                    started_at=job.started_at if job.started_at is not None else state.now,
                    running_since=state.now,
                )
            case Action.RESCALE:
                return replace(
                    job,
                    allocation=decision.allocation,
                    last_rescaled_at=state.now,
                    rescales=job.rescales + 1,
                )
            case Action.PAUSE:
                return replace(
                    job, phase=JobPhase.WAITING, allocation=None, waiting_since=state.now
                )
            case Action.KEEP | Action.WAIT | Action.DROP:
                return job

    left = [job for job in state.jobs if decisions[job.job_id].action is not Action.DROP]
    return replace(state, jobs=tuple(map(after, left)))


def summary(plan: Plan) -> dict[str, str]:
    """A plan as `{job: "rescale 2"}`."""
    return {
        d.job_id: d.action.value + (f" {d.allocation.workers}" if d.allocation else "")
        for d in plan.decisions
    }


def said(state: ClusterState, *, to: str | None = None) -> dict[str, str]:
    """What is told of each job, with its remedy: to the members of a team, or to an admin."""
    planned = plan(state)
    values = dict(planned.explanations)
    if to is not None:
        values = {job: seen_by(value, team=to) for job, value in values.items()}
    found = remedies(state)
    teams = {job.job_id: job.team for job in state.jobs}
    return {
        job: " ".join([render(value), *(render_remedy(r, team=teams[job]) for r in found[job])])
        for job, value in values.items()
    }


def remedies(state: ClusterState) -> dict[str, list[Remedy]]:
    """One for each waiting job."""
    search = RemedySearch(state=state, planned=plan(state), planner=plan)
    found = {job.job_id: search.remedy_for(job.job_id) for job in state.jobs}
    return {job_id: [one] if one else [] for job_id, one in found.items()}


def pairs(items: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.combinations(items, 2))
