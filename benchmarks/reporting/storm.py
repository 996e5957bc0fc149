"""What is an overload here? Many more reports than can be stored, of senders that heed nothing.

Each comes on a connection of its own, whatever became of those before, and is given up when the
storm is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import cycle
from typing import Final

from benchmarks.reporting.crowd import Coordinator, Reported

MOST_UNDER_WAY: Final = 1000  # beside two for each coordinator; `api` has room for 4000 in all
CALM_SECONDS: Final = 10.0  # for so long all has to be well again
SOON_SECONDS: Final = 1.0  # an answer is well that comes so soon


async def rage(coordinators: Sequence[Coordinator], *, per_second: float, seconds: float) -> int:
    """Report so often for so long; return how many reports were sent."""
    loop = asyncio.get_running_loop()
    under_way: set[asyncio.Task[object]] = set()
    sent, began, whose = 0, loop.time(), cycle(coordinators)
    while (passed := loop.time() - began) < seconds:
        due = min(int(passed * per_second) - sent, MOST_UNDER_WAY - len(under_way))
        for _ in range(due):
            task: asyncio.Task[object] = loop.create_task(_once(next(whose)))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        sent += max(due, 0)
        await asyncio.sleep(0.01)
    for task in [*under_way]:
        task.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
    return sent


async def _once(coordinator: Coordinator) -> None:
    wire = coordinator.new_wire()
    try:
        await coordinator.report(wire)
    finally:
        wire.close()


def recovered_after(reported: Sequence[Reported], *, since: float, now: float) -> float | None:
    """Return after how many seconds all was well again, and stayed so; None: not yet."""
    bad = [
        min(one.at + one.seconds, now)
        for one in reported
        if one.at + one.seconds >= since and not (one.is_stored and one.seconds <= SOON_SECONDS)
    ]
    well_since = max(bad, default=since)
    return well_since - since if now - well_since >= CALM_SECONDS else None
