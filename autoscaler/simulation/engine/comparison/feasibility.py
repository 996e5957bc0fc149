"""Which jobs of a trace can never end on this cluster? Better told at once than after hours.

The planner is asked for each kind of request alone in the empty cluster: what does not start there
never starts, and the planner says why. So quotas, node sizes, batches and the policy count as in
the simulation. A job that starts may still take longer than any simulation should.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from autoscaler.simulation.engine.replay.planner_view import submission_of
from autoscaler.simulation.engine.truth.isolation import isolated_seconds

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

_YEAR: Final = 365 * 86_400.0
LONGEST_RUN_SECONDS: Final = 10 * _YEAR  # guessed: longer is a mistake, and no end is in sight
MOST_KINDS: Final = 1000  # that are asked for, the largest first; guessed: seconds of computing
_ENDS: Final = frozenset({Action.START, Action.DROP})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndlessJobs:
    """The first job that cannot end, why, and how many cannot. `takes_too_long`: it would start."""

    job: str
    why: str
    takes_too_long: bool
    jobs: int


class _Kind(NamedTuple):
    """What jobs that fare the same have in common."""

    request: PlannedJob
    profile: Profile


class _Stuck(NamedTuple):
    why: str
    takes_too_long: bool


def endless_in(trace: Trace, settings: Settings) -> EndlessJobs | None:
    """None where every job can end."""
    named = {quota.team for quota in settings.quotas}
    kinds: dict[_Kind, list[TraceJob]] = {}
    for job in trace.jobs:
        kinds.setdefault(_kind_of(job, named), []).append(job)
    largest = sorted(kinds, key=_size, reverse=True)[:MOST_KINDS]
    found = [pair for kind in largest for pair in _stuck_of(kind, kinds[kind], settings)]
    if not found:
        return None
    first, stuck = min(found, key=lambda pair: (pair[0].submitted_at, pair[0].name))
    return EndlessJobs(
        job=first.name, why=stuck.why, takes_too_long=stuck.takes_too_long, jobs=len(found)
    )


def _kind_of(job: TraceJob, teams_with_quota: set[str]) -> _Kind:
    """Its request without what does not decide whether it starts in an empty cluster."""
    request = replace(
        submission_of(job),
        job_id="job",
        name="job",
        submitted_at=0.0,
        deadline=None,
        utility=None,
        remaining_samples=None,
        user="any" if job.user else "",  # all have the same limit
        team=job.team if job.team in teams_with_quota else "any",
    )
    return _Kind(request, job.profile)


def _size(kind: _Kind) -> int:
    return kind.request.min_workers * kind.request.gpus_per_worker


def _stuck_of(
    kind: _Kind, jobs: list[TraceJob], settings: Settings
) -> list[tuple[TraceJob, _Stuck]]:
    """Those of one kind that cannot end, each with why."""
    refusal = _refusal(kind.request, settings)
    if refusal is not None:
        return [(job, _Stuck(refusal, takes_too_long=False)) for job in jobs]
    if settings.horizon_seconds is not None:
        return []
    pace = _seconds_per_sample(kind, settings)
    return [
        (job, _Stuck(_too_long(job.samples * pace), takes_too_long=True))
        for job in jobs
        if job.samples * pace > LONGEST_RUN_SECONDS
    ]


def _too_long(seconds: float) -> str:
    return f"It would run for {seconds / _YEAR:,.0f} years on the whole cluster."


def _refusal(request: PlannedJob, settings: Settings) -> str | None:
    """Return why it does not start alone in an empty cluster; None: it does."""
    state = ClusterState(now=0.0, pools=settings.pools, quotas=settings.quotas, jobs=(request,))
    planned = plan(state, settings.policies)
    if all(decision.action in _ENDS for decision in planned.decisions):
        return None
    return render(planned.explanations[request.job_id])


def _seconds_per_sample(kind: _Kind, settings: Settings) -> float:
    pool = next(pool for pool in settings.pools if pool.name == kind.request.pool)
    return isolated_seconds(
        kind.request,
        kind.profile,
        pool,
        samples=1.0,
        gpus=sum(node.gpus for node in pool.nodes),
        counts_noise=False,
    )
