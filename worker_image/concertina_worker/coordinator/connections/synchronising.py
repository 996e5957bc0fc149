"""When does the coordinator speak with the service? Twice a second, and until it was heard.

While the service is away, training goes on and reports are kept; the next sync that succeeds
delivers them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import (
    ReportRefusedError,
    Service,
    ServiceUnavailableError,
)
from concertina_worker.coordinator.machine import Coordination

SYNC_SECONDS: Final = 0.5
SLOWEST_SYNC_SECONDS: Final = 2.0  # while the service does not answer
LAST_WORDS_SECONDS: Final = 600.0  # how long a coordinator whose job is over tries to be heard

_log = logging.getLogger(__name__)


class Synchroniser:
    """Brings reports up and what is desired down."""

    def __init__(self, coordination: Coordination, server: Server, service: Service) -> None:
        self._coordination = coordination
        self._server = server
        self._service = service
        self._pause_seconds = SYNC_SECONDS
        self._over_since: float | None = None

    async def run(self) -> None:
        """Return when the job is over and the service knows all."""
        while not await self.run_once():  # noqa: ASYNC110 - a poll by its nature
            await asyncio.sleep(self._pause_seconds)

    async def run_once(self) -> bool:
        """One sync; True when it was the last."""
        was_over = self._coordination.is_over
        report = self._coordination.sync_report()
        try:
            desired = await asyncio.to_thread(self._service.sync, report)
        except ReportRefusedError as error:
            if self._coordination.memory.reports.give_up(report):
                _log.error("The service refuses a report, dropped: %s action=drop", error)
            return self._note_failure(error, was_over=was_over)
        except ServiceUnavailableError as error:
            return self._note_failure(error, was_over=was_over)
        self._pause_seconds = SYNC_SECONDS
        self._coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
        self._server.handle(on.DesiredArrived(desired=desired))
        return was_over and self._coordination.is_over

    def _note_failure(self, error: ServiceUnavailableError, *, was_over: bool) -> bool:
        if self._pause_seconds == SYNC_SECONDS:
            _log.warning("The service does not answer: %s action=buffer", error)
        self._pause_seconds = min(2 * self._pause_seconds, SLOWEST_SYNC_SECONDS)
        self._server.save()
        if not was_over:
            self._over_since = None
            return False
        self._over_since = self._over_since or time.monotonic()
        return time.monotonic() - self._over_since > LAST_WORDS_SECONDS
