"""Which followed jobs have ended? This takes one small query a second, however many follow.

Streams run on the event loop and may live for hours, so none may keep a database connection: all
of a process share this one, which asks in a thread and gives its connection back at once.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from jobs.lifecycle import FINAL
from jobs.models import Job

_ASK_EVERY_SECONDS: Final = 1.0  # guessed: how late a stream may end


class FinalJobs:
    """Remembers which followed jobs are final, asking for all of them at once."""

    def __init__(self) -> None:
        self._followed: dict[str, int] = {}
        self._final: set[str] = set()
        self._asked_at = 0.0
        self._lock = asyncio.Lock()

    def follow(self, job_id: str) -> None:
        self._followed[job_id] = self._followed.get(job_id, 0) + 1

    def unfollow(self, job_id: str) -> None:
        self._followed[job_id] -= 1
        if not self._followed[job_id]:
            del self._followed[job_id]
            self._final.discard(job_id)

    async def is_final(self, job_id: str) -> bool:
        async with self._lock:
            if (
                job_id not in self._final
                and time.monotonic() - self._asked_at >= _ASK_EVERY_SECONDS
            ):
                self._final |= await _find_final(list(self._followed))
                self._asked_at = time.monotonic()
        return job_id in self._final


@sync_to_async(thread_sensitive=False)
def _find_final(job_ids: list[str]) -> set[str]:
    """Return ended jobs. While the database is away none is known, so that streams go on."""
    close_old_connections()
    try:
        rows = Job.objects.filter(pk__in=job_ids, state__in=FINAL)
        return set(rows.values_list("pk", flat=True))
    except (OperationalError, InterfaceError):
        return set()
    finally:
        connection.close()
