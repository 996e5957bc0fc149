"""How do events reach the state machine, and its instructions the workers? Over TCP.

One asyncio loop does everything, so events are handled one after the other. Memory is saved
before an instruction leaves; where it cannot be, that is tried again at the next event.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import time
from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections import bounds
from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.coordinator.instructions import (
    HangUp,
    Instruction,
    ReleaseMember,
    SeeOff,
    SendPlan,
    SendStore,
)
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.wire import (
    FromCoordinator,
    FromWorker,
    Message,
    ProtocolError,
    decode,
    encode,
)

HELLO_SECONDS: Final = 15.0  # for a connection to say who it is
LOOK_SECONDS: Final = 0.25  # between two looks at who is silent
_MAX_LINE_BYTES: Final = 2**20
# They come all the time, and nobody waits to hear of them.
_UNREMARKABLE: Final = on.HeartBeat | on.PaceTold | on.GpuMeasured
# Saved with the next real change.
_PASSING: Final = on.HeartBeat | on.ProgressMade | on.PaceTold | on.GpuMeasured | on.TimePassed

_log = logging.getLogger(__name__)


class Server:
    """The workers' end of the coordinator."""

    def __init__(self, coordination: Coordination, state_file: StateFile, *, token: str) -> None:
        self._coordination = coordination
        self._state_file = state_file
        self._token = token
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._held: list[Instruction] = []  # until memory is saved
        self._is_behind = False  # what is saved is older than what is known
        self.something_happened = asyncio.Event()  # of which the service may have to hear

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Raises OSError when the port is taken."""
        return await asyncio.start_server(self._serve, host, port, limit=_MAX_LINE_BYTES)

    def handle(self, event: on.Event) -> None:
        """Let the state machine have an event, save, then do what it says."""
        instructions = self._coordination.handle(event, now=time.time())
        if instructions or not isinstance(event, _UNREMARKABLE):
            self.something_happened.set()
        self._held += instructions
        if instructions or self._is_behind or not isinstance(event, _PASSING):
            self.save()

    def save(self) -> None:
        """Save what is known. While that fails, as on a full disk, instructions wait for it."""
        try:
            self._state_file.save(self._coordination.memory)
        except OSError as error:
            if not self._is_behind:
                _log.warning("Memory cannot be saved, orders wait: %s action=hold", error)
            self._is_behind = True
            return
        self._is_behind = False
        held, self._held = self._held, []
        for instruction in held:
            self._carry_out(instruction)

    async def watch(self) -> None:
        """Look again and again whether somebody has become silent; runs until cancelled."""
        while True:
            self.handle(on.TimePassed())
            await asyncio.sleep(LOOK_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        worker = ""
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                worker = await self._welcome(reader, writer)
            while message := await _next_message(reader):
                self.handle(to_event(worker, message))
        except (OSError, TimeoutError, ProtocolError, RecursionError, ValueError) as error:
            _log.warning("Lost the connection to a worker: %r action=drop worker=%s", error, worker)
        finally:
            writer.close()
            if worker and self._writers.get(worker) is writer:
                del self._writers[worker]
                self.handle(on.WorkerDisconnected(worker=worker))

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        hello = await _next_message(reader)
        if hello is None or hello["type"] != FromWorker.HELLO:
            raise ProtocolError("the first message must be a hello")
        if not hmac.compare_digest(str(hello.get("token", "")).encode(), self._token.encode()):
            raise ProtocolError("wrong token")
        worker = bounds.worker_id(hello.get("worker"))
        event = to_event(worker, hello)
        self._writers[worker] = writer
        self.handle(event)
        store = hello.get("store")
        if isinstance(store, dict):
            self.handle(to_event(worker, {**store, "type": FromWorker.STORE}))
        return worker

    def _carry_out(self, instruction: Instruction) -> None:
        match instruction:
            case SendPlan(worker=worker, plan=plan):
                _log.info(
                    "Plan for %d workers, batch %d action=plan generation=%d worker=%s",
                    len(plan.members),
                    plan.global_batch_size,
                    plan.generation,
                    worker,
                )
                self._send(worker, {"type": FromCoordinator.PLAN, "plan": plan.to_json()})
            case SendStore(worker=worker, generation=generation, address=address):
                message = {"generation": generation, "address": address}
                self._send(worker, {"type": FromCoordinator.STORE, **message})
            case ReleaseMember(worker=worker, reason=reason):
                _log.info("A worker may go: %s action=release worker=%s", reason, worker)
                self._send(worker, {"type": FromCoordinator.RELEASE, "reason": reason})
            case SeeOff(worker=worker):
                self._send(worker, {"type": FromCoordinator.FAREWELL})
            case HangUp(worker=worker, reason=reason):
                _log.warning("A worker is given up: %s action=give_up worker=%s", reason, worker)
                if writer := self._writers.pop(worker, None):
                    writer.transport.abort()

    def _send(self, worker: str, message: Message) -> None:
        if writer := self._writers.get(worker):
            with contextlib.suppress(OSError):  # its reader will notice
                writer.write(encode(message))


async def _next_message(reader: asyncio.StreamReader) -> Message | None:
    line = await reader.readline()
    return decode(line) if line.endswith(b"\n") else None
