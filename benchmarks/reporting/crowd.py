"""Who reports? Coordinators of jobs that train, each as often as the service tells it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from benchmarks.reporting.one_report import report
from benchmarks.reporting.wire import WAIT_SECONDS, Answer, Wire
from concertina_worker.protocol import REST_SECONDS, SYNC_PATH, WAKE_PATH

SPREAD: Final = 0.25  # so much more a coordinator may wait, so that they do not come together
AGAIN_SECONDS: Final = 2.0  # where the service says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What became of one report."""

    at: float  # when it was sent, by the clock of the loop
    seconds: float  # until its answer came
    status: int

    @property
    def is_stored(self) -> bool:
        return self.status == HTTPStatus.OK


@dataclass(slots=True, kw_only=True)
class Coordinator:
    """One job's; it has a point of progress for each report."""

    job_id: str
    workers: Sequence[str]
    token: str
    host: str
    port: int
    own_host: str  # the machine that it is on
    step: int = 0
    _wire: Wire = field(init=False)

    def __post_init__(self) -> None:
        self._wire = self.new_wire()

    def new_wire(self) -> Wire:
        return Wire(self.host, self.port, own_host=self.own_host)

    async def reports(self, into: list[Reported]) -> None:
        """Report for ever; the first time at any moment of a pause."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(random.uniform(0, 2 * REST_SECONDS))  # noqa: S311
        while True:
            began = loop.time()
            answer = await self.report()
            seconds = loop.time() - began
            into.append(Reported(at=began, seconds=seconds, status=answer.status))
            pause = _pause(answer) * random.uniform(1, 1 + SPREAD)  # noqa: S311
            await asyncio.sleep(pause)

    async def report(self, wire: Wire | None = None) -> Answer:
        """Report once; on another connection than its own, if one is named."""
        self.step += 1
        body = json.dumps(report(list(self.workers), [self.step], pace=1 + self.step % 7)).encode()
        return await (wire or self._wire).ask(self._head("POST", SYNC_PATH), body)

    async def waits(self) -> None:
        """Wait to be woken, again and again."""
        wire = self.new_wire()
        while True:
            answer = await wire.ask(self._head("GET", WAKE_PATH), seconds=WAIT_SECONDS)
            if answer.status not in {HTTPStatus.OK, HTTPStatus.NO_CONTENT}:
                await asyncio.sleep(answer.again_after or AGAIN_SECONDS)

    def _head(self, method: str, path: str) -> bytes:
        lines = (
            f"{method} {path.format(job_id=self.job_id)} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            f"Authorization: Bearer {self.token}",
            "Content-Type: application/json",
        )
        return "".join(f"{line}\r\n" for line in lines).encode()


def _pause(answer: Answer) -> float:
    if answer.status == HTTPStatus.OK and answer.document:
        return float(answer.document["report_after_seconds"])
    return answer.again_after or AGAIN_SECONDS
