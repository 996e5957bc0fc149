"""Is this the database that ordered last, or was an older one put in its place?

Every tick is a *turn*: it counts in the database first, and then in a small file of the state
folder. A database that was restored from a backup has forgotten turns of which the file knows. What
ran in that lost time left checkpoints, logs, records and maybe processes behind, and the restored
database is about to give the same numbers out again. So a new *epoch* begins by itself: it goes
into the order of checkpoints before all else, and into the names of all that starts from then on.

A new epoch costs nothing. Where the file is missing or cannot be understood one begins as well,
unless the database is new itself. The file is written after the database, and not synced: if the
machine dies it may know less than the database, which is as it should be.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from autoscaler.control_loop.lease.exclusive import LEASE_NAME, Fence
from autoscaler.control_loop.models import Lease

FILE_NAME: Final = "database-turn.json"
_FIRST_TURN: Final = 1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTurn:
    """How far a database has come."""

    number: int
    epoch: int


def settle(fence: Fence, state_dir: Path, now: datetime) -> Fence:
    """The fence with the epoch in which this tick acts, which may have begun with it.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    path = state_dir / FILE_NAME
    mine = LeaseTurn(number=fence.turn, epoch=fence.epoch)
    try:
        known = _read(path)
        if has_lost_time(mine, known):
            mine = _begin_epoch(fence, mine, known, now)
        _write(path, mine)
    except OSError as problem:  # a full disk, say; the next tick tries again
        _log.warning("%s: the turn is not noted: %s", path, problem, extra={"action": "epoch"})
    return replace(fence, epoch=mine.epoch, turn=mine.number)


def has_lost_time(mine: LeaseTurn, known: LeaseTurn | None) -> bool:
    """True if somebody took this turn, or a later one, before."""
    if known is None:
        return mine.number > _FIRST_TURN
    return mine.number <= known.number or mine.epoch < known.epoch


def next_epoch(mine: LeaseTurn, known: LeaseTurn | None, now: datetime) -> int:
    """The time in seconds: later than any other, also where the file is gone with the last one."""
    return max(int(now.timestamp()), mine.epoch + 1, known.epoch + 1 if known else 0)


def _begin_epoch(
    fence: Fence, mine: LeaseTurn, known: LeaseTurn | None, now: datetime
) -> LeaseTurn:
    number = max(mine.number, known.number + 1 if known else 0)
    begun = LeaseTurn(number=number, epoch=next_epoch(mine, known, now))
    with fence.transaction():
        Lease.objects.filter(pk=LEASE_NAME).update(turn=begun.number, epoch=begun.epoch)
    _log.critical(
        "This database has made %d turns, the state folder knows of %s: it was restored from a"
        " backup, or the folder is another. What is started from now on is of epoch %d.",
        mine.number,
        known.number if known else "none",
        begun.epoch,
        extra={"action": "epoch"},
    )
    return begun


def _read(path: Path) -> LeaseTurn | None:
    """None where there is none, or what is there was not written by us."""
    try:
        document = json.loads(path.read_text())
        return LeaseTurn(number=int(document["number"]), epoch=int(document["epoch"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, turn: LeaseTurn) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(asdict(turn)))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
