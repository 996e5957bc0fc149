"""How does a job's coordinator hear at once that something else is wanted of the job?

Whoever changes what is wanted announces it; `api` wakes the coordinator, which then reports and
hears what it is. Many jobs that change in one transaction are announced together.
"""

from __future__ import annotations

import threading
from typing import Final

from django.db import transaction
from django.dispatch import Signal

wanted_changed: Final = Signal()  # receivers get `job_ids: frozenset[str]`


class _Announced(threading.local):
    """Jobs of this thread's transaction; of one that failed they are woken for nothing."""

    def __init__(self) -> None:
        self.job_ids: set[str] = set()


_announced: Final = _Announced()


def announce_wanted(job_id: str) -> None:
    """Send `wanted_changed` once the transaction is committed; receivers cannot break it."""
    _announced.job_ids.add(job_id)
    transaction.on_commit(_tell, robust=True)


def _tell() -> None:
    job_ids, _announced.job_ids = frozenset(_announced.job_ids), set()
    if job_ids:
        wanted_changed.send(sender=announce_wanted, job_ids=job_ids)
