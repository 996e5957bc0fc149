"""How does a test have a simulator in its own process? In a thread with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster.simulated_host.simulator import door
from cluster.simulated_host.simulator.world import SimulatedProcesses


@dataclass(frozen=True, slots=True)
class SimulatorInThread:
    """A simulator that answers."""

    loop: asyncio.AbstractEventLoop
    world: SimulatedProcesses

    def do(self, what: Callable[[SimulatedProcesses], None]) -> None:
        """Let something happen in its world, and wait until it has."""
        done: Future[None] = Future()

        def happen() -> None:
            what(self.world)
            done.set_result(None)

        self.loop.call_soon_threadsafe(happen)
        done.result(timeout=30)


@contextmanager
def simulator_in_thread(state_dir: Path) -> Iterator[SimulatorInThread]:
    """Run one until the end of the block."""
    made: Future[tuple[SimulatorInThread, asyncio.Event]] = Future()

    async def run() -> None:
        world, is_over = SimulatedProcesses(state_dir), asyncio.Event()
        async with await door.listen(world, state_dir):
            made.set_result((SimulatorInThread(asyncio.get_running_loop(), world), is_over))
            await is_over.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    simulator, is_over = made.result(timeout=30)
    try:
        yield simulator
    finally:
        simulator.loop.call_soon_threadsafe(is_over.set)
        thread.join(timeout=30)
