"""Run the simulator: the one place where its parts are wired together."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from cluster.simulated_host.simulator import door
from cluster.simulated_host.simulator.world import SimulatedProcesses

MOST_REPORTS_AT_ONCE: Final = 128  # a thread each, while it waits for the service's answer
# The service's tick waits for the event loop, which must not stand in line behind many reports.
SWITCH_SECONDS: Final = 0.0005


async def run(state_dir: Path) -> None:
    """Simulate until SIGTERM."""
    sys.setswitchinterval(SWITCH_SECONDS)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(MOST_REPORTS_AT_ONCE, "report"))
    asked_to_end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_end.set)
    async with await door.listen(SimulatedProcesses(state_dir), state_dir):
        await asked_to_end.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state-dir", type=Path, required=True, help="the CONCERTINA_STATE")
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    asyncio.run(run(parser.parse_args().state_dir))
    return 0


if __name__ == "__main__":
    sys.exit(main())
