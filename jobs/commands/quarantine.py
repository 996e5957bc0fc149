"""Which jobs are left out of planning or of predictions, until when, and what is their team told?

A job whose data make a computation over all jobs fail is left out of it and tried again, after a
longer pause each time. All jobs that failed together are written in a handful of statements; if
nothing fails and nothing is left out, nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from textwrap import shorten
from typing import Final

from django.db import transaction
from django.db.models import Case, F, Q, When

from autoscaler.backoff import Backoff
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import events
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Job, Quarantine
from jobs.spec.stored_spec import SpecUnreadable

# Guessed: reports change a job's data within seconds.
BETWEEN_RETRIES: Final = Backoff(first_seconds=10.0, longest_seconds=3600.0)
REMEMBERED: Final = timedelta(days=1)  # guessed: one that fails on and off waits ever longer
MOST_TRIED_AT_ONCE: Final = 8  # guessed: each that fails again costs a tick some plans
_LONGEST_ERROR: Final = 2000
_LONGEST_NAMES: Final = 300  # characters of the names of fields that a team is told
# not what it is about to do
_TELLS_ITS_STATE: Final = frozenset({JobState.QUEUED, JobState.RUNNING})

_PLANNED: Final = ACTIVE | {JobState.QUEUED, JobState.STOPPING}

Part = Quarantine.Part


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Jobs that are left out this time, and jobs left out before that are tried again."""

    job_ids: frozenset[str] = frozenset()
    on_trial: frozenset[str] = frozenset()


def left_out(part: Part, now: datetime) -> LeftOut:
    """Return who is left out; jobs that have waited longest for their next try come first."""
    rows = Quarantine.objects.filter(part=part, job__state__in=_PLANNED).order_by("retry_at", "id")
    known = list(rows.values_list("job_id", "retry_at"))
    due = [job_id for job_id, retry_at in known if retry_at <= now][:MOST_TRIED_AT_ONCE]
    on_trial = frozenset(due)
    return LeftOut(job_ids=frozenset(one for one, _ in known) - on_trial, on_trial=on_trial)


def update(
    part: Part, *, failing: Mapping[str, Exception], healed: Collection[str], now: datetime
) -> None:
    """Leave out the jobs that failed, and let in those that no longer fail."""
    with transaction.atomic():
        _put(part, failing, now)
        _release(part, healed)


def count(part: Part = Part.PLANNING) -> int:
    """Count the jobs that want or hold GPUs and are left out."""
    return Quarantine.objects.filter(part=part, job__state__in=_PLANNED).count()


def _put(part: Part, failing: Mapping[str, Exception], now: datetime) -> None:
    if not failing:
        return
    known = {
        row.job_id: row
        for row in Quarantine.objects.select_for_update().filter(part=part, job__in=failing.keys())
    }
    before = {job_id: row.failures for job_id, row in known.items()}
    new = failing.keys() - known.keys()
    if part is Part.PLANNING and new:
        before |= _lately_failed(new, now)
    rows = [
        Quarantine(
            job_id=job_id,
            part=part,
            failures=(failures := before.get(job_id, 0) + 1),
            since=known[job_id].since if job_id in known else now,
            retry_at=now + timedelta(seconds=BETWEEN_RETRIES.seconds_after(failures)),
            error=storable(error)[:_LONGEST_ERROR],
        )
        for job_id, error in failing.items()
    ]
    Quarantine.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["job", "part"],
        update_fields=["failures", "retry_at", "error"],
    )
    if part is Part.PLANNING:
        _count_new(new, now)
        _tell(failing, new)


def _lately_failed(job_ids: Collection[str], now: datetime) -> dict[str, int]:
    """Return how often each job began to fail lately, though it was planned in between."""
    failed = Job.objects.filter(pk__in=job_ids, planning_failed_at__gt=now - REMEMBERED)
    return dict(failed.values_list("id", "planning_failures"))


def _count_new(job_ids: Collection[str], now: datetime) -> None:
    is_again = Q(planning_failed_at__gt=now - REMEMBERED)
    times = Case(When(is_again, then=F("planning_failures") + 1), default=1)
    Job.objects.filter(pk__in=job_ids).update(planning_failures=times, planning_failed_at=now)


def _tell(failing: Mapping[str, Exception], new: Collection[str]) -> None:
    """Tell the job's people: an event when it begins, and its reason while it lasts."""
    events.record_all(
        events.new(
            job_id=job_id,
            kind=EventKind.PLANNING_FAILED,
            reason=JobReason.PLANNING_FAILED,
            message=sentence(holds=None, unreadable=_unreadable(failing[job_id])),
        )
        for job_id in sorted(new)
    )
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)  # by fields a release dropped
    for job_id, error in failing.items():
        alike[_unreadable(error)].append(job_id)
    for (unreadable, job_ids), state in product(alike.items(), _TELLS_ITS_STATE):
        message = sentence(holds=state is JobState.RUNNING, unreadable=unreadable)
        stale = Job.objects.filter(pk__in=job_ids, state=state)
        stale.exclude(reason=JobReason.PLANNING_FAILED, message=message).update(
            reason=JobReason.PLANNING_FAILED,
            message=message,
            explanation={},
            explanation_for_admins={},
        )


def _release(part: Part, healed: Collection[str]) -> None:
    if not healed:
        return
    Quarantine.objects.filter(part=part, job__in=healed).delete()
    if part is Part.PLANNING:
        message = "The planner can use its data again: it is planned as all others are."
        events.record_all(
            events.new(job_id=job_id, kind=EventKind.PLANNED_AGAIN, message=message)
            for job_id in sorted(healed)
        )
        marked = Job.objects.filter(Q(reason=JobReason.PLANNING_FAILED), pk__in=healed)
        marked.update(reason=JobReason.PLANNED_AGAIN, message=message)


def _unreadable(error: Exception) -> tuple[str, ...]:
    return error.fields if isinstance(error, SpecUnreadable) else ()


def sentence(*, holds: bool | None, unreadable: Collection[str] = ()) -> str:
    """Return what the team reads: the fields are its own; any other error is for admins."""
    named = shorten(", ".join(unreadable), _LONGEST_NAMES, placeholder=" …")
    cause = f" These fields of its spec cannot be read any more: {named}." if unreadable else ""
    meanwhile = {
        None: "It keeps what it holds",
        True: "It keeps its GPUs and trains on",
        False: "It goes on waiting",
    }[holds]
    return (
        "The platform cannot compute with this job's data, so it is left out of plans."
        f"{cause} {meanwhile}, the other jobs are planned, and this job is tried again by itself."
        " If this lasts, ask an admin, who can see the cause; or cancel the job and submit it with"
        " other numbers."
    )


def storable(error: Exception) -> str:
    """Return the error as Python words it, as far as Python can and PostgreSQL can store it.

    A number of thousands of digits cannot be written; PostgreSQL stores neither null characters nor
    lone surrogates.
    """
    try:
        text = repr(error)
    except ValueError:
        text = type(error).__name__
    return text.replace("\0", "").encode(errors="replace").decode()
