"""How does a job change its state? Only here: it compares, sets, and writes down why.

`move` updates with `WHERE state = …`, so of two who try at once exactly one wins. The loser gets
`False`, which is normal: it looks again and decides anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from tracing import sending
from tracing.spans import TraceSpan

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from jobs.changes import events, state_spans
from jobs.changes.wake_signal import announce_wanted
from jobs.lifecycle import FINAL, WITHOUT_WORKERS, JobState, is_legal
from jobs.models import Generation, Job


class IllegalMove(Exception):
    """The lifecycle has no such move; the caller is wrong, not the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A change of state that is still to be written."""

    columns: Mapping[str, Any]
    event: events.Unwritten
    ends_generation: bool  # the open one: it holds no worker any more
    changes_wishes: bool  # something else is wanted of the job: announce it
    span: TraceSpan | None  # of the state that ends, to be sent once this is committed


def move(
    job_id: str,
    expected: Collection[JobState],
    new: JobState,
    *,
    reason: JobReason | StoredReason,
    message: str = "",
    data: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> bool:
    """Move the job from one of the `expected` states to `new`, with its event, or do nothing.

    `changes` are other columns to set in the same update. Every move sets `state_since`, the first
    start sets `started_at`, every final state `finished_at`, and a job that holds no worker any
    more has no open generation; nobody else needs to see to that.

    Returns:
        False when the job is unknown or in none of the expected states: somebody else was first.

    Raises:
        IllegalMove: the lifecycle table lacks a move from an expected state.
    """
    check_legal(expected, new)
    with transaction.atomic():
        held = Job.objects.select_for_update(no_key=True).filter(pk=job_id, state__in=expected)
        job = held.only("state", "started_at", *state_spans.COLUMNS).first()
        if job is None:
            return False
        made = move_of(
            job, new, at=Now(), reason=reason, message=message, data=data, changes=changes
        )
        Job.objects.filter(pk=job_id, state=job.state).update(**made.columns)
        if made.ends_generation:
            Generation.objects.filter(job_id=job_id, ended_at=None).update(ended_at=Now())
        made.event.save()
        send_when_committed([made])
        if made.changes_wishes:
            announce_wanted(job_id)
    return True


def move_held(
    jobs: Sequence[Job],
    new: JobState,
    *,
    reason: JobReason,
    message: str = "",
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Move jobs whose rows the caller holds, to no state in which they hold more than before.

    A few statements, however many they are.

    Raises:
        IllegalMove: the lifecycle table lacks a move from the state of one of them.
    """
    if not jobs:
        return
    check_legal({JobState(job.state) for job in jobs}, new)
    why: Any = {"reason": reason, "message": message, "changes": changes}
    made = [move_of(job, new, at=Now(), **why) for job in jobs]
    ids = [job.id for job in jobs]
    Job.objects.filter(pk__in=ids).update(**made[0].columns)  # they are the same for all
    if made[0].ends_generation:
        Generation.objects.filter(job__in=ids, ended_at=None).update(ended_at=Now())
    events.record_all(one.event for one in made)
    send_when_committed(made)
    if made[0].changes_wishes:
        for job_id in ids:
            announce_wanted(job_id)


def move_of(
    job: Job,
    new: JobState,
    *,
    at: datetime | Now,
    reason: JobReason | StoredReason,
    message: str = "",
    data: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Move:
    """Return the move of a job whose row the caller holds, from the state that this row has."""
    return Move(
        columns={
            "state": new,
            "state_since": at,
            "coordinator_restarts": 0,
            "reason": reason,
            "message": message,
            **_times(job, new, at),
            **(changes or {}),
        },
        event=events.new(
            job_id=job.id,
            kind=EventKind.STATE_CHANGED,
            old_state=job.state,
            new_state=new,
            reason=reason,
            message=message,
            data=data,
        ),
        ends_generation=new in WITHOUT_WORKERS,
        changes_wishes=new is not JobState.RUNNING,  # of which its own report is the cause
        span=state_spans.span_of(job, new, at=at, reason=reason, data=data),
    )


def send_when_committed(moves: Iterable[Move]) -> None:
    """Tell whoever traces jobs of the states that ended, unless all is rolled back."""
    spans = [one.span for one in moves if one.span is not None]
    if spans:
        transaction.on_commit(lambda: sending.send(*spans))


def check_legal(expected: Collection[JobState], new: JobState) -> None:
    """Raises IllegalMove if the lifecycle table lacks a move from an expected state."""
    for state in expected:
        if not is_legal(state, new):
            raise IllegalMove(f"{state} -> {new}")


def _times(job: Job, new: JobState, at: datetime | Now) -> dict[str, Any]:
    if new == JobState.STARTING:
        return {"started_at": job.started_at or at}
    if new in FINAL:
        return {"finished_at": at}
    return {}
