"""What stands on a job whose data or code is on the way, or will never come?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from autoscaler.control_loop.carry_out import writing
from autoscaler.control_loop.carry_out.writing import Draft
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.outside.arrival import Arrival
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.words import sentence_case
from jobs.changes import events
from jobs.lifecycle import State
from jobs.models import Job


def tell(views: Iterable[JobView], arriving: Mapping[str, Arrival], context: TickContext) -> None:
    """Say on jobs that wait what they wait for, and let those fail whose data will never come."""
    waiting = [view for view in views if view.is_queued and view.id in arriving]
    hopeless = {view.id: view for view in waiting if arriving[view.id].problem}
    if hopeless:
        drafts = {job_id: _failing(arriving[job_id]) for job_id in hopeless}
        writing.write(drafts, context, seats_on=())
    said: defaultdict[tuple[JobReason, str], list[str]] = defaultdict(list)
    for view in waiting:
        arrival = arriving[view.id]
        message = sentence_case(f"{arrival.note.removesuffix('.')}.")
        if view.id not in hopeless and (view.job.reason, view.job.message) != (
            arrival.waits_as,
            message,
        ):
            said[arrival.waits_as, message].append(view.id)
    reasons = {view.id: view.job.reason for view in waiting}
    for (reason, message), job_ids in said.items():
        news = {job_id for job_id in job_ids if reasons[job_id] != reason}
        _say(reason, message, job_ids, news, context)


def _say(
    reason: JobReason, message: str, job_ids: list[str], news: set[str], context: TickContext
) -> None:
    """A job whose row somebody holds hears it in the next tick."""
    with context.fence.transaction():
        rows = Job.objects.filter(pk__in=job_ids, state=State.QUEUED).order_by("pk")
        held = list(
            rows.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
        )
        Job.objects.filter(pk__in=held).update(reason=reason, message=message)
        for job_id in held:
            if job_id in news:
                events.record(
                    job_id=job_id, kind=EventKind.PREPARING, reason=reason, message=message
                )


def _failing(arrival: Arrival) -> writing.Drafting:
    def draft(draft: Draft) -> None:
        draft.move(
            {State.QUEUED},
            State.FAILED,
            reason=arrival.reason,
            message=arrival.problem,
        )

    return draft
