"""Does a coordinator get over a disk that is full for a while? Its orders wait, and come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.plan import GenerationPlan
from concertina_worker.wire import Message, decode, encode
from tests.worker.coordinator_story import Story

PATIENCE_SECONDS = 60.0
HELLO: Message = {
    "type": "hello",
    "token": "t",
    "worker": "w1",
    "attempt": 1,
    "phase": "connected",
    "plan": None,
    "failed_in": 0,
    "model_bytes": 0,
    "store": None,
}


async def true(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - nothing tells when
        await asyncio.sleep(0)


def test_an_order_is_given_when_it_could_be_saved_and_nobody_is_dropped_till_then(
    tmp_path: Path,
) -> None:
    """Without its folder, memory can as little be saved as on a full disk."""
    folder = tmp_path / "memory"
    coordination = Story().want("w1").coordination
    server = Server(coordination, StateFile(folder), token="t")
    folder.rmdir()

    async def hear() -> tuple[Message, GenerationPlan | None]:
        async with asyncio.timeout(PATIENCE_SECONDS), await server.listen("127.0.0.1", 0) as here:
            address = here.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address)
            writer.write(encode(HELLO) + encode({"type": "ready", "model_bytes": 8}))
            await true(lambda: coordination.memory.pending is not None)
            folder.mkdir()
            server.handle(on.TimePassed())
            heard = decode(await reader.readline())
            saved = StateFile(folder).load().pending
            writer.close()
            await true(lambda: coordination.memory.pending is None)  # it is seen to be gone
            return heard, saved

    heard, saved = asyncio.run(hear())
    assert heard["type"] == "plan"
    assert saved == GenerationPlan.from_json(heard["plan"])
