"""How does a job change its state? Only here: it compares, sets, and writes down why.

`move` updates with `WHERE state = …`, so of two who try at once exactly one wins. The loser gets
`False`, which is normal: it looks again and decides anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce, Now

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from jobs.changes import events
from jobs.changes.wake_signal import announce_wanted
from jobs.lifecycle import FINAL, WITHOUT_WORKERS, State, is_legal
from jobs.models import Generation, Job


class IllegalMove(Exception):
    """The lifecycle has no such move; the caller is wrong, not the job."""


def move(
    job_id: str,
    expected: Collection[State],
    new: State,
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
    for state in expected:
        if not is_legal(state, new):
            raise IllegalMove(f"{state} -> {new}")
    with transaction.atomic():
        held = Job.objects.select_for_update(no_key=True).filter(pk=job_id, state__in=expected)
        old = held.values_list("state", flat=True).first()
        if old is None:
            return False
        Job.objects.filter(pk=job_id, state=old).update(
            state=new,
            state_since=Now(),
            coordinator_restarts=0,
            reason=reason,
            message=message,
            **_times(new),
            **(changes or {}),
        )
        if new in WITHOUT_WORKERS:
            Generation.objects.filter(job_id=job_id, ended_at=None).update(ended_at=Now())
        events.record(
            job_id=job_id,
            kind=EventKind.STATE_CHANGED,
            old_state=old,
            new_state=new,
            reason=reason,
            message=message,
            data=data,
        )
        if new is not State.RUNNING:  # of which its own report is the cause
            announce_wanted(job_id)
    return True


def _times(new: State) -> dict[str, Any]:
    if new == State.STARTING:
        return {"started_at": Coalesce("started_at", Now())}
    if new in FINAL:
        return {"finished_at": Now()}
    return {}
