"""When is it looked which code no job refers to any more? Once an hour, whoever has the lease."""

from __future__ import annotations

import logging
import os
from datetime import datetime, timedelta
from typing import Final

from cluster.files.discarding import discard
from storage.code.places import CodePlaces
from storage.code.unused import remove_unused

from autoscaler.control_loop.lease.orders import Orders
from jobs.queries.code_use import without_jobs

_EVERY: Final = timedelta(hours=1)
_STAMP: Final = ".looked"

_log = logging.getLogger(__name__)


def remove_unused_code(orders: Orders, places: CodePlaces, now: datetime) -> None:
    """Remove it, if the last look was long ago; without any code there is nothing to look for.

    Raises:
        Overtaken: another process holds the lease now.
    """
    stamp = places.root / _STAMP
    try:
        if not places.root.is_dir():
            return
        if stamp.exists() and stamp.stat().st_mtime > (now - _EVERY).timestamp():
            return
        stamp.touch()
        os.utime(stamp, (now.timestamp(), now.timestamp()))
    except OSError as problem:
        _log.warning("The folder of code cannot be read: %s", problem, extra={"action": "code"})
        return
    with orders.giving():
        remove_unused(places, without_jobs, lambda folder: discard(folder, aside=places.aside))
