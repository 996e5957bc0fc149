"""What stands on a job whose data or code is on the way, or will never come?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Now

from autoscaler.control_loop.carry_out import row_updates, writing
from autoscaler.control_loop.carry_out.writing import JobDraft
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.words import sentence_case
from jobs.changes import events
from jobs.lifecycle import JobState
from jobs.models import Job


def tell(
    views: Iterable[LiveJob], arriving: Mapping[str, StartPrerequisite], context: TickContext
) -> None:
    """Say on jobs that wait what they wait for, and let those fail whose data will never come."""
    waiting = [view for view in views if view.is_queued and view.id in arriving]
    hopeless = {view.id: view for view in waiting if arriving[view.id].problem}
    if hopeless:
        drafts = {job_id: _failing(arriving[job_id]) for job_id in hopeless}
        writing.write(drafts, context, seats_on=())
    notices: dict[str, _FetchNotice] = {}
    for view in waiting:
        notice = _notice_of(arriving[view.id], context)
        if view.id not in hopeless and (view.job.reason, view.job.message) != notice.as_it_stands:
            notices[view.id] = notice
    if notices:
        reasons = {view.id: view.job.reason for view in waiting}
        news = {job for job, one in notices.items() if one.is_news and reasons[job] != one.reason}
        _say(notices, news, context)


def let_go(views: Iterable[LiveJob], context: TickContext) -> None:
    """Have jobs that waited for others wait for GPUs from now on: until now they wanted none.

    A job that waits longer comes first, and may claim what others borrow.
    """
    free = {view.id: view for view in views if view.job.reason == JobReason.WAITING_FOR_JOBS}
    if not free:
        return
    with context.fence.transaction():
        rows = Job.objects.filter(pk__in=list(free), state=JobState.QUEUED).order_by("pk")
        held = list(
            rows.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
        )
        Job.objects.filter(pk__in=held).update(reason="", message="", state_since=Now())
    for job_id in held:
        job = free[job_id].job
        job.reason, job.message, job.state_since = "", "", context.now


@dataclass(frozen=True, slots=True)
class _FetchNotice:
    """What a job is told that waits."""

    reason: JobReason
    message: str
    prepared_at: datetime | None
    is_news: bool

    @property
    def as_it_stands(self) -> tuple[str, str]:
        """Return what of it a job's row shows; the moment moves a little all the time."""
        return self.reason, self.message

    @property
    def columns(self) -> Mapping[str, Any]:
        return {"reason": self.reason, "message": self.message, "prepared_at": self.prepared_at}


def _notice_of(arrival: StartPrerequisite, context: TickContext) -> _FetchNotice:
    is_known = arrival.seconds > 0
    return _FetchNotice(
        reason=arrival.waits_as,
        message=sentence_case(f"{arrival.note.removesuffix('.')}."),
        prepared_at=context.now + timedelta(seconds=arrival.seconds) if is_known else None,
        is_news=arrival.is_news,
    )


def _say(notices: Mapping[str, _FetchNotice], news: set[str], context: TickContext) -> None:
    """A job whose row somebody holds hears it in the next tick. As many statements as for one."""
    with context.fence.transaction():
        rows = Job.objects.filter(pk__in=list(notices), state=JobState.QUEUED).order_by("pk")
        held = list(
            rows.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
        )
        row_updates.update(Job, {job_id: notices[job_id].columns for job_id in held})
        events.record_all(
            events.new(
                job_id=job_id,
                kind=EventKind.PREPARING,
                reason=notices[job_id].reason,
                message=notices[job_id].message,
            )
            for job_id in held
            if job_id in news
        )


def _failing(arrival: StartPrerequisite) -> writing.Drafting:
    def draft(draft: JobDraft) -> None:
        draft.move(
            {JobState.QUEUED},
            JobState.FAILED,
            reason=arrival.reason,
            message=arrival.problem,
        )

    return draft
