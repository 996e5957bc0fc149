"""Which jobs wait for others to end, and which do so in vain?

They neither start nor fetch before: what a job makes may be what the next one needs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from autoscaler.control_loop.arriving.telling import let_go, tell
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.assessments.awaited_jobs import (
    AwaitedJobs,
    DependencyVerdict,
    verdict_on,
)
from jobs.lifecycle import FINAL, JobState
from jobs.queries.listing import dependencies
from jobs.queries.listing.dependencies import AwaitedRows
from jobs.wait_condition import WaitCondition


def waiting_for_others(
    views: Sequence[LiveJob], context: TickContext
) -> Mapping[str, StartPrerequisite]:
    """Return by job for whom it waits; it is told, or fails if it waits in vain.

    One statement, however many wait; none where nobody does. Where some wait in vain, one more:
    all that wait for them, and for those, fail in the same tick.
    """
    asking = {view.id: view for view in views if view.is_queued and view.spec.depends_on}
    if not asking:
        return {}
    verdicts = _verdicts_on(asking)
    found = {
        job_id: StartPrerequisite(
            note=one.waits,
            waits_as=JobReason.WAITING_FOR_JOBS,
            problem=one.in_vain,
            reason=JobReason.DEPENDENCY_UNMET,
        )
        for job_id, one in verdicts.items()
        if one.waits or one.in_vain
    }
    tell(asking.values(), found, context)
    let_go([view for job_id, view in asking.items() if job_id not in found], context)
    return found


def _verdicts_on(job_ids: Collection[str]) -> Mapping[str, DependencyVerdict]:
    verdicts = {
        job_id: verdict_on([_as_value(row) for row in rows])
        for job_id, rows in dependencies.standing_of(job_ids).items()
    }
    failing = [job_id for job_id, one in verdicts.items() if one.in_vain]
    if not failing:
        return verdicts
    behind = {
        job_id: verdict_on([_as_value(row)])
        for job_id, row in dependencies.standing_once_failed(failing).items()
        if job_id in verdicts
    }
    return {**verdicts, **behind, **{job_id: verdicts[job_id] for job_id in failing}}


def some_may_go_on(
    arriving: Mapping[str, StartPrerequisite], changed: Mapping[str, LiveJob | None]
) -> bool:
    """True if jobs wait for others, and some job has ended in this tick."""
    waiting = [one for one in arriving.values() if one.waits_as is JobReason.WAITING_FOR_JOBS]
    if not waiting:
        return False
    has_ended = any(view is None or view.state in FINAL for view in changed.values())
    return has_ended or any(one.problem for one in waiting)


def _as_value(row: AwaitedRows) -> AwaitedJobs:
    return AwaitedJobs(
        condition=WaitCondition(row.condition),
        state=JobState(row.state) if row.state else None,
        count=row.count,
        names=row.names,
    )
