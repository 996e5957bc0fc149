"""Which outputs and checkpoints did somebody delete? They go here, for only this loop may write."""

from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cluster.files.discarding import discard
from storage.models import UnwantedResult
from storage.results.folders import ResultFolder, Results
from storage.results.unwanted import MOST_AT_ONCE, remove

from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.models import Job

_PAUSE: Final = timedelta(minutes=10)  # guessed: until a disk that refuses is asked again
_ASIDE: Final = ".discarded"

_log = logging.getLogger(__name__)


def remove_unwanted_results(orders: FencedOrders, now: datetime) -> AbstractSet[str]:
    """Remove what has waited longest; return of which jobs. The next ticks go on.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    gone, refused, jobs = list[int](), list[int](), set[str]()
    for unwanted in UnwantedResult.objects.filter(due_at__lte=now)[:MOST_AT_ONCE]:
        try:
            with orders.giving():
                _remove(unwanted, orders.state_dir)
        except OSError as problem:
            extra = {"action": "remove_result", "job_id": unwanted.job_id}
            _log.warning("%s cannot be removed, later perhaps: %s", unwanted, problem, extra=extra)
            refused.append(unwanted.pk)
        else:
            gone.append(unwanted.pk)
            jobs.add(unwanted.job_id)
    if gone or refused:
        with orders.fence.transaction():
            UnwantedResult.objects.filter(pk__in=gone).delete()
            Job.objects.filter(pk__in=jobs).update(kept_bytes=None)  # it is measured anew
            UnwantedResult.objects.filter(pk__in=refused).update(due_at=now + _PAUSE)
    return jobs


def _remove(unwanted: UnwantedResult, state_dir: Path) -> None:
    results = Results(
        state_dir=state_dir, job_id=unwanted.job_id, place=ResultFolder(unwanted.place)
    )
    aside = results.jobs_dir / _ASIDE
    remove(results, unwanted.path, lambda folder: discard(folder, aside=aside))
