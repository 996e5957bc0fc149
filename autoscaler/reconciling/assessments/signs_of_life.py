"""Does a job get anywhere? Judged from when it last showed so, and from when it was lost.

A script that registered reports its steps. Of any other we see what it writes, and how long it ran:
what it writes while it starts does not count, for one that is always killed there writes it again
and again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from autoscaler.reconciling.snapshot import SignsOfLife

LOSSES_COUNT_FOR: Final = timedelta(hours=6)
"""A loss before that tells nothing of this one. Guessed: longer than five hopeless starts take,
with all they wait for; trades GPUs held for nothing against jobs on machines that often fail."""
_STARTING: Final = timedelta(seconds=60)  # guessed: a script that writes after that has begun
_LONG_RUN: Final = timedelta(seconds=300)  # guessed: a script that is silent for so long works


class DueReaction(StrEnum):
    """What is due when a job shows no sign of life."""

    TELL = "tell"  # its people
    END = "end"


def due(
    *, since: datetime, told_at: datetime | None, now: datetime, timeout: float
) -> DueReaction | None:
    """Telling after half of the time, the end as long after that: never without a warning.

    So it is, too, when nobody has looked for longer than all of it.
    """
    what = DueReaction.TELL if told_at is None or told_at < since else DueReaction.END
    return what if now >= due_at(since=since, told_at=told_at, timeout=timeout) else None


def due_at(*, since: datetime, told_at: datetime | None, timeout: float) -> datetime:
    """Return when something is due, if there is no sign of life until then."""
    half = timedelta(seconds=timeout / 2)
    return since + half if told_at is None or told_at < since else told_at + half


def losses_in_a_row(life: SignsOfLife, *, now: datetime) -> int:
    """Count the losses of all workers with no sign of life between, this one included."""
    if life.lost_at is None or now - life.lost_at > LOSSES_COUNT_FOR:
        return 1
    has_lived = life.progress_at is not None and life.progress_at > life.lost_at
    return 1 if has_lived else life.losses_in_a_row + 1


def of_run(*, began: datetime, ended: datetime, wrote: datetime | None) -> datetime | None:
    """Return when a script that reports nothing was last alive in this run; None: never."""
    if wrote is not None and wrote - began >= _STARTING:
        return wrote
    return ended if ended - began >= _LONG_RUN else None
