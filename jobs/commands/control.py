"""How do people steer a job? They cancel, pause and resume it; the control loop makes it so.

A job that holds workers first becomes `stopping`, with what it will be in `ends_as`; while it
stops, another wish only changes `ends_as`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import transaction
from tenancy.access.principal import Principal
from tenancy.audit import records

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import demand_signal, events, state_spans
from jobs.changes.transitions import move, move_held
from jobs.errors import IllegalTransition, JobNotFound, LimitUsedUp
from jobs.lifecycle import ACTIVE, LIVE, JobState
from jobs.models import Job, JobArray
from jobs.queries.listing import arrays
from jobs.spec import stored_spec
from jobs.spec.parts.used_limits import SpecLimit

_MOST_NOTED: Final = 20  # of many jobs, in the audit log


@dataclass(frozen=True, slots=True, kw_only=True)
class _StateRequest:
    """What somebody wants of a job, and from where it can be had."""

    done: str  # "cancelled", as in "the job was cancelled by ada"
    reason: JobReason
    becomes: JobState
    at_once_from: frozenset[JobState]  # holds no worker
    by_stopping_from: frozenset[JobState]  # holds workers, which must end first
    instead_of: frozenset[JobState]  # what a stopping job may still be turned away from

    @property
    def allowed(self) -> Collection[JobState]:
        return [state for state in JobState if state in self.at_once_from | self.by_stopping_from]


_CANCEL: Final = _StateRequest(
    done="cancelled",
    reason=JobReason.CANCELLED_BY_USER,
    becomes=JobState.CANCELLED,
    at_once_from=frozenset({JobState.QUEUED, JobState.PAUSED}),
    by_stopping_from=ACTIVE,
    instead_of=frozenset({JobState.PAUSED, JobState.QUEUED}),
)
_PAUSE: Final = _StateRequest(
    done="paused",
    reason=JobReason.PAUSED_BY_USER,
    becomes=JobState.PAUSED,
    at_once_from=frozenset({JobState.QUEUED}),
    by_stopping_from=ACTIVE,
    instead_of=frozenset({JobState.QUEUED}),
)
_RESUME: Final = _StateRequest(
    done="resumed",
    reason=JobReason.PENDING_EVALUATION,
    becomes=JobState.QUEUED,
    at_once_from=frozenset({JobState.PAUSED}),
    by_stopping_from=frozenset(),
    instead_of=frozenset({JobState.PAUSED}),
)


_REST: Final = replace(_PAUSE, reason=JobReason.PAUSED_AT_RUNG)
_STOP: Final = replace(_CANCEL, done="stopped", reason=JobReason.STOPPED_BY_SWEEP)


@transaction.atomic
def cancel(*, job_id: str, actor: str, reason: str = "", others: Sequence[str] = ()) -> Job:
    """Stop the job for good; likewise of `others`, which wait for it, those that still live.

    Raises: JobNotFound, IllegalTransition (it has ended already, and there are no others).
    """
    if not others:
        return _grant(_CANCEL, job_id=job_id, actor=actor, comment=reason)
    cancel_all(job_ids=[job_id, *others], actor=actor, reason=reason)
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        raise JobNotFound
    return job


@transaction.atomic
def cancel_all(*, job_ids: Sequence[str], actor: str, reason: str = "") -> list[str]:
    """Stop all of the jobs that live; return which. A few statements, however many they are."""
    return _grant_to_all(_CANCEL, job_ids=job_ids, actor=actor, comment=reason)


def cancel_trials(principal: Principal, array: JobArray, *, reason: str = "") -> list[str]:
    """Stop all trials of an array that live, and have its sweep make no more; return which.

    Raises:
        JobNotYours: some of them the principal only sees.
    """
    live = arrays.live_jobs_to_change(principal, array)
    if array.is_swept and JobArray.objects.filter(pk=array.pk).update(is_open=False):
        # Who was just making some has done so, and who comes later makes none.
        live = arrays.live_jobs_to_change(principal, array)
    return cancel_all(job_ids=live, actor=principal.name, reason=reason)


@transaction.atomic
def pause_all(*, job_ids: Sequence[str], actor: str, reason: str = "") -> list[str]:
    """Have all of the jobs that wait or run give back their GPUs; return which. As `cancel_all`."""
    return _grant_to_all(_PAUSE, job_ids=job_ids, actor=actor, comment=reason)


@transaction.atomic
def resume_all(*, job_ids: Sequence[str], actor: str, reason: str = "") -> list[str]:
    """Queue all paused jobs again but those that have used up a limit of theirs; return which."""
    paused = Job.objects.filter(pk__in=job_ids, state=JobState.PAUSED).order_by("pk")
    columns = paused.only("id", "resolved_spec", "held_seconds", "gpu_seconds")
    used_up = {job.id for job in columns if _used_up_limit(job) is not None}
    may_go_on = [job_id for job_id in job_ids if job_id not in used_up]
    return _grant_to_all(_RESUME, job_ids=may_go_on, actor=actor, comment=reason)


@transaction.atomic
def rest_all(*, job_ids: Sequence[str], actor: str, reason: str) -> list[str]:
    """Have trials wait at a rung of their sweep; return which. As `pause_all`."""
    return _grant_to_all(_REST, job_ids=job_ids, actor=actor, comment=reason)


@transaction.atomic
def stop_all(*, job_ids: Sequence[str], actor: str, reason: str) -> list[str]:
    """Stop trials for good, for their sweep; return which. As `cancel_all`."""
    return _grant_to_all(_STOP, job_ids=job_ids, actor=actor, comment=reason)


def pause(*, job_id: str, actor: str, reason: str = "") -> Job:
    """Give back all GPUs after a checkpoint. Raises: JobNotFound, IllegalTransition."""
    return _grant(_PAUSE, job_id=job_id, actor=actor, comment=reason)


def resume(*, job_id: str, actor: str, reason: str = "") -> Job:
    """Queue a paused job again.

    Raises: JobNotFound, IllegalTransition (it is not paused), LimitUsedUp.
    """
    return _grant(_RESUME, job_id=job_id, actor=actor, comment=reason)


def _grant_to_all(
    wish: _StateRequest, *, job_ids: Sequence[str], actor: str, comment: str
) -> list[str]:
    live = Job.objects.select_for_update(no_key=True).filter(pk__in=job_ids, state__in=LIVE)
    jobs = list(
        live.only("id", "state", "ends_as", "started_at", *state_spans.COLUMNS).order_by("pk")
    )
    message = f"{wish.done.capitalize()} by {actor}{_because(comment)}."
    at_once = [job for job in jobs if job.state in wish.at_once_from]
    by_stopping = [job for job in jobs if job.state in wish.by_stopping_from]
    stopping = [job for job in jobs if job.ends_as in wish.instead_of]
    why: Any = {"reason": wish.reason, "message": message}
    move_held(at_once, wish.becomes, **why)
    move_held(by_stopping, JobState.STOPPING, **why, changes={"ends_as": wish.becomes})
    _redirect(stopping, wish, message)
    changed = [job.id for job in (*at_once, *by_stopping, *stopping)]
    records.note_change(after={wish.done: comment or True, "jobs": changed[:_MOST_NOTED]})
    demand_signal.announce_demand()
    return changed


@transaction.atomic
def _grant(wish: _StateRequest, *, job_id: str, actor: str, comment: str) -> Job:
    job = Job.objects.select_for_update(no_key=True).filter(pk=job_id).first()
    if job is None:
        raise JobNotFound
    state, message = JobState(job.state), f"{wish.done.capitalize()} by {actor}{_because(comment)}."
    if wish is _RESUME:
        _see_that_it_may_go_on(job)
    if state in wish.at_once_from:
        move(job_id, {state}, wish.becomes, reason=wish.reason, message=message)
    elif state in wish.by_stopping_from:
        changes = {"ends_as": wish.becomes}
        move(
            job_id, {state}, JobState.STOPPING, reason=wish.reason, message=message, changes=changes
        )
    elif state == JobState.STOPPING and job.ends_as in wish.instead_of:
        _redirect([job], wish, message)
    elif not (state == JobState.STOPPING and job.ends_as == wish.becomes):  # else: under way
        raise IllegalTransition(verb=wish.done, state=state, allowed=list(wish.allowed))
    records.note_change(
        before={"state": state, "ends_as": job.ends_as}, after={wish.done: comment or True}
    )
    demand_signal.announce_demand(job_id)
    job.refresh_from_db()
    return job


def _see_that_it_may_go_on(job: Job) -> None:
    limit = _used_up_limit(job)
    if limit is not None:
        raise LimitUsedUp(
            f"The job has used up its `{limit.field}`. Give it more before it goes on:"
            f" `concertina edit {job.id} {limit.option} ...`."
        )


def _used_up_limit(job: Job) -> SpecLimit | None:
    spec = stored_spec.read(job.resolved_spec).spec
    limits = spec.limits_in_use(held_seconds=job.held_seconds, gpu_seconds=job.gpu_seconds)
    return next((one for one in limits if one.is_used_up), None)


def _redirect(jobs: Sequence[Job], wish: _StateRequest, message: str) -> None:
    ids = [job.id for job in jobs]
    Job.objects.filter(pk__in=ids).update(ends_as=wish.becomes, reason=wish.reason, message=message)
    events.record_all(
        events.new(
            job_id=job.id,
            kind=EventKind.STOP_REQUESTED,
            reason=wish.reason,
            message=message,
            data={"ends_as": wish.becomes, "instead_of": job.ends_as},
        )
        for job in jobs
    )


def _because(comment: str) -> str:
    """Return the reason that somebody gave, in one line."""
    words = " ".join(comment.split()).rstrip(".")
    return f": {words}" if words else ""
