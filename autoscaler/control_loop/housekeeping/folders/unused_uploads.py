"""When is it looked what nobody refers to any more? Once an hour, whoever has the lease."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from cluster.files.discarding import discard
from storage.code.paths import CodePaths
from storage.data.uploaded.paths import UploadedPaths
from storage.models import CodeSnapshot, DataSnapshot
from storage.uploads.paths import UploadPaths
from storage.uploads.unused import remove_unused

from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.queries.upload_use import code_without_jobs, data_without_users

_EVERY: Final = timedelta(hours=1)
_STAMP: Final = ".looked"

_log = logging.getLogger(__name__)


def remove_unused_uploads(orders: FencedOrders, now: datetime) -> None:
    """Remove code and data, if the last look was long ago.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    code = CodePaths(state_dir=orders.state_dir)
    rows = CodeSnapshot.objects.all()
    _look(orders, code, partial(remove_unused, code, rows, code_without_jobs), now)
    data = UploadedPaths(state_dir=orders.state_dir)
    others = DataSnapshot.objects.all()
    _look(orders, data, partial(remove_unused, data, others, data_without_users), now)


def _look(
    orders: FencedOrders, paths: UploadPaths, remove: Callable[..., int], now: datetime
) -> None:
    """There is nothing to look for without any folder."""
    stamp = paths.root / _STAMP
    try:
        if not paths.root.is_dir():
            return
        if stamp.exists() and stamp.stat().st_mtime > (now - _EVERY).timestamp():
            return
        stamp.touch()
        os.utime(stamp, (now.timestamp(), now.timestamp()))
    except OSError as problem:
        said = "The folder of uploads cannot be read: %s"
        _log.warning(said, problem, extra={"action": "remove_uploads"})
        return
    with orders.giving():
        remove(lambda folder: discard(folder, aside=paths.aside))
