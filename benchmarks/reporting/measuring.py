"""What do so many coordinators cost, and how is it after a storm?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

from local_stack.soak.counting.percentiles import percentile

from benchmarks.api_cost.own_database import processor_seconds
from benchmarks.reporting import storm
from benchmarks.reporting.crowd import Coordinator, Reported
from benchmarks.reporting.monitoring import HealthQuestions, ask_health

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SETTLING_SECONDS: Final = 30.0  # until everybody has reported, and knows when to come again
LONGEST_RECOVERY_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """Process numbers, and where `api` listens."""

    api: int
    postgres: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What happened in some seconds."""

    seconds: float
    reported: Sequence[Reported]
    api_seconds: float
    postgres_seconds: float
    own_seconds: float

    def lines(self, jobs: int) -> list[str]:
        stored = [one for one in self.reported if one.is_stored]
        count = max(len(stored), 1)
        p50, p95 = (percentile([one.seconds for one in stored], share) for share in (0.5, 0.95))
        cores = [each / self.seconds for each in (self.api_seconds, self.postgres_seconds)]
        milliseconds = [1000 * self.seconds * each / count for each in cores]
        return [
            f"| reports stored | {len(stored) / self.seconds:.1f} /s |",
            f"| refused or not answered | {len(self.reported) - len(stored)} |",
            "| cores: api, PostgreSQL | {:.3f}, {:.3f} |".format(*cores),
            "| a report: api, PostgreSQL | {:.2f}, {:.2f} ms |".format(*milliseconds),
            f"| until the answer: p50, p95 | {p50 or 0.0:.3f}, {p95 or 0.0:.3f} s |",
            f"| cores of the {jobs} coordinators | {self.own_seconds / self.seconds:.3f} |",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """What an overload did."""

    times: float
    per_second: float  # that were sent
    health: HealthQuestions  # meanwhile
    recovered_after_seconds: float | None

    def lines(self) -> list[str]:
        after = self.recovered_after_seconds
        recovered = "not yet" if after is None else f"{after:.1f} s"
        return [
            f"| reports sent, {self.times:g} times as many | {self.per_second:.0f} /s |",
            *self.health.lines(),
            f"| all well again after (at most 30 s) | {recovered} |",
        ]


async def measure(
    servers: Servers, coordinators: Sequence[Coordinator], *, seconds: float
) -> Stretch:
    """Let them report, and see what it costs."""
    async with _reporting(coordinators) as reported:
        await asyncio.sleep(SETTLING_SECONDS)
        return await _stretch(servers, reported, seconds)


async def measure_storm(
    servers: Servers, coordinators: Sequence[Coordinator], *, seconds: float, times: float
) -> Storm:
    """Let them report, then so many times as many for a while, and see how soon that is over."""
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
        async with _reporting(coordinators) as reported:
            await asyncio.sleep(SETTLING_SECONDS)
            calm = await _stretch(servers, reported, SETTLING_SECONDS)
            usual = sum(one.is_stored for one in calm.reported) / calm.seconds
            looking = loop.run_in_executor(
                elsewhere, ask_health, servers.host, servers.port, seconds
            )
            sent = await storm.rage(coordinators, per_second=times * usual, seconds=seconds)
            over_at = loop.time()
            recovered = None
            while recovered is None and loop.time() < over_at + LONGEST_RECOVERY_SECONDS:
                await asyncio.sleep(1.0)
                recovered = storm.recovered_after(reported, since=over_at, now=loop.time())
            return Storm(
                times=times,
                per_second=sent / seconds,
                health=await looking,
                recovered_after_seconds=recovered,
            )


async def _stretch(servers: Servers, reported: list[Reported], seconds: float) -> Stretch:
    first, began = len(reported), time.monotonic()
    before = _spent(servers)
    await asyncio.sleep(seconds)
    api, postgres, own = (now - then for now, then in zip(_spent(servers), before, strict=True))
    return Stretch(
        seconds=time.monotonic() - began,
        reported=reported[first:],
        api_seconds=api,
        postgres_seconds=postgres,
        own_seconds=own,
    )


def _spent(servers: Servers) -> tuple[float, float, float]:
    own = time.process_time()
    return processor_seconds(servers.api), processor_seconds(servers.postgres), own


@asynccontextmanager
async def _reporting(coordinators: Sequence[Coordinator]) -> AsyncIterator[list[Reported]]:
    """Within, all of them report and wait to be woken."""
    reported: list[Reported] = []
    tasks = [
        asyncio.create_task(doing)
        for one in coordinators
        for doing in (one.reports(reported), one.waits())
    ]
    try:
        yield reported
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
