"""Do workers that know nothing of us form a process group of their own? Then they share the work.

`torch.distributed` opens a store on the first worker, where `MASTER_ADDR` and `MASTER_PORT` say,
and keeps it open as long as the group lives. Whoever listens there is taken for one. It is asked
only until it has been seen once, or the script has registered.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from concertina_worker.coordinator.machine import Coordination

LOOK_SECONDS: Final = 2.0  # guessed: a group lives for minutes at least
_CONNECT_SECONDS: Final = 2.0


async def look_out(coordination: Coordination, host: str, port: int) -> None:
    """Look until there is nothing left to find out."""
    while not (coordination.sees_foreign_group or coordination.memory.is_registered):
        coordination.sees_foreign_group = await is_open(host, port)
        if not coordination.sees_foreign_group:
            await asyncio.sleep(LOOK_SECONDS)


async def is_open(host: str, port: int) -> bool:
    """True if somebody else listens there."""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
        own, peer = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        writer.close()
        return bool(own != peer)  # on one machine a connection may by chance meet itself
    return False
