"""When does the coordinator speak with the service? When it is time, or somebody has news.

The service's answer says when it is time. If it wants something before, it ends the request that
waits for its word (`held_call`). If something happens here that it should hear of, the coordinator
reports at once, but no more often than twice a second. While the service is away, training goes on
and reports are kept; the next sync that succeeds delivers them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Hashable
from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections.held_call import Waker
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import (
    ControlPlane,
    ReportRefusedError,
    ServiceUnavailableError,
)
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.protocol import SOON_SECONDS

SYNC_SECONDS: Final = SOON_SECONDS
SLOWEST_SYNC_SECONDS: Final = 2.0  # while the service does not answer, nor says when it will
SPREAD: Final = 0.25  # of the time after which it wants to be asked again
LAST_WORDS_SECONDS: Final = 600.0  # how long a coordinator whose job is over tries to be heard
LISTENING_SECONDS: Final = 2.0
"""Between two reports at least, while the service holds a request: what changes there is told at
once, and so is what changes here. Guessed: trades what a wake-up that is lost costs against the
reports of many jobs that start together."""
NOBODY_HOLDS_SECONDS: Final = 10.0  # guessed: until a service that holds no request is asked again
_SHORTEST_HOLD_SECONDS: Final = 1.0  # one that lets go at once is not asked all the time

_log = logging.getLogger(__name__)


class Synchroniser:
    """Brings reports up and what is desired down."""

    def __init__(
        self,
        coordination: Coordination,
        server: Server,
        service: ControlPlane,
        waker: Waker,
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`chance` gives a number from 0 to 1."""
        self._coordination = coordination
        self._server = server
        self._service = service
        self._waker = waker
        self._chance = chance
        self.pause_seconds = SYNC_SECONDS  # until the next report, if nothing happens
        self._is_failing = False
        self._is_listening = False
        self._over_since: float | None = None
        self._told: Hashable = None  # the news of the newest report that was answered
        self._began_at = 0.0  # the newest report, in seconds of this process
        self._answered_at = 0.0  # when the newest that was answered had begun
        self._wanted_at = 0.0  # the service asked for one
        self._answered = asyncio.Condition()

    async def run(self) -> None:
        """Return when the job is over and the service knows all."""
        listening = asyncio.create_task(self._listen())
        try:
            while not await self.run_once():
                await self._pause()
        finally:
            listening.cancel()

    async def run_once(self) -> bool:
        """One sync; True when it was the last."""
        was_over = self._coordination.is_over
        self._began_at = time.monotonic()
        report, news = self._coordination.sync_report(), self._coordination.news()
        try:
            desired = await asyncio.to_thread(self._service.sync, report)
        except ReportRefusedError as error:
            if self._coordination.memory.reports.give_up(report):
                _log.error("The service refuses a report, dropped: %s action=drop", error)
            return self._note_failure(error, was_over=was_over)
        except ServiceUnavailableError as error:
            return self._note_failure(error, was_over=was_over)
        self._told, self._is_failing = news, False
        self.pause_seconds = desired.get("report_after_seconds", SYNC_SECONDS)
        self._coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
        self._server.handle(on.DesiredArrived(desired=desired))
        async with self._answered:
            self._answered_at = self._began_at
            self._answered.notify_all()
        return was_over and self._coordination.is_over

    async def _listen(self) -> None:
        """Report whenever the service says so; runs until cancelled."""
        while True:
            await self._until_answered(since=0.0)
            asked_at = time.monotonic()
            try:
                self._is_listening = True
                is_woken = await self._waker.is_woken(heard_seconds=asked_at - self._answered_at)
            except ServiceUnavailableError:
                self._is_listening = False
                await asyncio.sleep(NOBODY_HOLDS_SECONDS)
                continue
            if is_woken:
                await self._report_now()
            elif time.monotonic() - asked_at < _SHORTEST_HOLD_SECONDS:
                await asyncio.sleep(_SHORTEST_HOLD_SECONDS)

    async def _report_now(self) -> None:
        """Return once a report that begins from now on was answered."""
        self._wanted_at = time.monotonic()
        self._server.something_happened.set()
        await self._until_answered(since=self._wanted_at)

    async def _pause(self) -> None:
        """Wait until the next report is due, or has a reason."""
        happened = self._server.something_happened
        while (left := self._due_at() - time.monotonic()) > 0:
            happened.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await happened.wait()

    def _due_at(self) -> float:
        if self._is_failing:
            return self._began_at + self.pause_seconds
        if self._wanted_at > self._began_at:
            return self._wanted_at
        if self._coordination.news() != self._told:
            return self._began_at + SYNC_SECONDS
        shortest = LISTENING_SECONDS if self._is_listening else 0.0
        return self._began_at + max(self.pause_seconds, shortest)

    async def _until_answered(self, *, since: float) -> None:
        async with self._answered:
            await self._answered.wait_for(lambda: self._answered_at > since)

    def _note_failure(self, error: ServiceUnavailableError, *, was_over: bool) -> bool:
        if not self._is_failing:
            _log.warning("The service does not answer: %s action=buffer", error)
        before = self.pause_seconds if self._is_failing else SYNC_SECONDS
        self._is_failing = True
        spread = 1.0 + SPREAD * self._chance()  # so that not all come again at once
        self.pause_seconds = max(
            min(2 * before, SLOWEST_SYNC_SECONDS), spread * error.again_after_seconds
        )
        self._server.save()
        if not was_over:
            self._over_since = None
            return False
        self._over_since = self._over_since or time.monotonic()
        return time.monotonic() - self._over_since > LAST_WORDS_SECONDS
