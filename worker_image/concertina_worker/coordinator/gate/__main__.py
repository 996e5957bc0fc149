"""Be the gate of a job: `python -m concertina_worker.coordinator.gate HOST PARENT`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from concertina_worker.coordinator.gate.reachable import Reachable
from concertina_worker.coordinator.gate.tunnels import Gate
from concertina_worker.process.parent_death import die_with
from concertina_worker.protocol import GATE_PORT, Env


async def run(host: str) -> None:
    gate = Gate(reachable=Reachable.of(os.environ.get(Env.REACHABLE, "")))
    async with await gate.listen(host, GATE_PORT) as server:
        logging.getLogger(__name__).info("Leads to %s action=listen", gate.reachable)
        await server.serve_forever()


if __name__ == "__main__":
    die_with(int(sys.argv[2]))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    asyncio.run(run(sys.argv[1]))
