"""Which folders does nobody need any more? Those of jobs that were deleted, or ended long ago.

A folder is moved aside at once and emptied in the background, so that no tick waits for a disk.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from cluster.files.discarding import discard
from cluster.logs import log_files
from storage.results.folders import ResultFolder

from autoscaler.control_loop.housekeeping.folders import last_checkpoint
from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.lifecycle import LIVE, JobState
from jobs.models import Job, Leftover

MOST_AT_ONCE: Final = 50  # guessed: each is one rename
_PAUSE: Final = timedelta(minutes=10)  # guessed: until a disk that refuses is asked again
_WITH_CHECKPOINTS: Final = {Leftover.Part.FILES, Leftover.Part.WORK}
_MOST_ENTRIES: Final = 1000  # of a job's folder; guessed: the platform makes about ten
_ASIDE: Final = ".discarded"

_log = logging.getLogger(__name__)


def remove_leftovers(orders: FencedOrders, now: datetime) -> AbstractSet[str]:
    """Remove what has waited longest; return of which jobs. The next ticks go on.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    gone, refused = list[int](), list[int]()
    due = Leftover.objects.filter(due_at__lte=now)
    # No wish should ever name a job that lives; if one does, the job's files are worth more.
    of_living = Job.objects.filter(state__in=LIVE).values("pk")
    found = list(due.exclude(job_id__in=of_living)[:MOST_AT_ONCE])
    completed = _completed({leftover.job_id for leftover in found})
    for leftover in found:
        folder = _folder(leftover, orders.state_dir)
        throw = partial(discard, aside=folder.parent / _ASIDE)  # logs may be on a disk of their own
        is_only_old = leftover.part in _WITH_CHECKPOINTS and leftover.job_id in completed
        discarding = partial(_discard, leftover.part, throw=throw)
        try:
            with orders.giving():
                if is_only_old:
                    last_checkpoint.discard_all_but(folder, discarding)
                else:
                    discarding(folder)
        except OSError as problem:
            extra = {"action": "remove_leftover", "job_id": leftover.job_id}
            _log.warning("%s cannot be removed, later perhaps: %s", folder, problem, extra=extra)
            refused.append(leftover.pk)
        else:
            gone.append(leftover.pk)
    lighter = {one.job_id for one in found if one.pk in gone}
    if gone or refused:
        with orders.fence.transaction():
            Leftover.objects.filter(pk__in=gone).delete()
            Job.objects.filter(pk__in=lighter).update(kept_bytes=None)  # it is measured anew
            Leftover.objects.filter(pk__in=refused).update(due_at=now + _PAUSE)
    return lighter


def _completed(job_ids: Collection[str]) -> AbstractSet[str]:
    """Return which of them are still known, as completed ones: nobody has deleted them."""
    if not job_ids:
        return frozenset()
    completed = Job.objects.filter(pk__in=job_ids, state=JobState.COMPLETED)
    return frozenset(completed.values_list("pk", flat=True))


def _discard(part: str, folder: Path, *, throw: Callable[[Path], None]) -> None:
    """Raises: OSError."""
    if part == Leftover.Part.OUTPUTS:
        throw(folder / ResultFolder.OUTPUTS)
    elif part == Leftover.Part.WORK:
        for path in _all_but_outputs(folder):
            if path.is_dir() and not path.is_symlink():
                throw(path)
            else:
                path.unlink(missing_ok=True)
    else:
        throw(folder)


def _all_but_outputs(folder: Path) -> list[Path]:
    """Raises: OSError (there are too many for one tick)."""
    try:
        with os.scandir(folder) as entries:
            found = [Path(one) for one in itertools.islice(entries, _MOST_ENTRIES + 1)]
    except FileNotFoundError:
        return []
    if len(found) > _MOST_ENTRIES:
        raise OSError(errno.E2BIG, "has more files side by side than a tick can remove")
    return [path for path in found if path.name != ResultFolder.OUTPUTS]


def _folder(leftover: Leftover, state_dir: Path) -> Path:
    if leftover.part == Leftover.Part.LOGS:
        return log_files.folder_of(leftover.job_id, state_dir=state_dir)
    return state_dir / "jobs" / leftover.job_id
