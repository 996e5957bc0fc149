"""How does the simulator take what the service asks for? One line of JSON each way."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from cluster.simulated_host import conversation
from cluster.simulated_host.documents import launch_of
from cluster.simulated_host.simulator.world import SimulatedProcesses

LONGEST_QUESTION: Final = 64 * 2**20  # thousands of launches at once

_log = logging.getLogger(__name__)


async def listen(world: SimulatedProcesses, state_dir: Path) -> asyncio.Server:
    """Take questions until the server is closed."""
    path = conversation.free_socket_path(state_dir)
    answering: dict[str, Callable[..., Any]] = {
        "start": lambda launches: world.start(list(map(launch_of, launches))),
        "stop": world.stop,
        "forget": world.forget,
        "list": world.list,
        "counts": world.counts.as_document,
    }

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            question = json.loads(await reader.readline())
            answer = answering[question.pop("question")](**question)
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        except (OSError, ValueError, KeyError, TypeError):
            _log.exception("A question cannot be answered action=hang_up")
        finally:
            writer.close()

    server = await asyncio.start_unix_server(serve, path, limit=LONGEST_QUESTION)
    path.chmod(0o600)
    return server
