"""Start a job's coordinator: the one place where its parts are wired together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time

from concertina_worker.coordinator import foreign_group
from concertina_worker.coordinator.connections.held_call import HttpWaker
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import HttpService, ReplacedError
from concertina_worker.coordinator.connections.synchronising import Synchroniser
from concertina_worker.coordinator.gate import keeping
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.environment import CoordinatorEnvironment
from concertina_worker.protocol import ExitCode

_log = logging.getLogger("concertina_worker.coordinator")


async def run(environment: CoordinatorEnvironment) -> int:
    asked_to_end = asyncio.Event()  # before anybody hears of it, who could ask
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
    state_file = StateFile(environment.state_dir, term=environment.term, start=environment.start)
    coordination = Coordination(state_file.load(), now=time.time(), term=environment.term)
    server = Server(coordination, state_file, token=environment.token)
    service = HttpService(
        url=environment.service_url, job_id=environment.job_id, token=environment.service_token
    )
    waker = HttpWaker(
        url=environment.service_url, job_id=environment.job_id, token=lambda: service.token
    )
    try:
        listener = await server.listen(environment.host, environment.port)
    except OSError as error:
        _log.error("Cannot listen: %s action=exit", error)
        return ExitCode.PORT_IN_USE
    _log.info("Listening on %s:%d action=listen", environment.host, environment.port)
    async with listener:
        syncing = asyncio.create_task(Synchroniser(coordination, server, service, waker).run())
        ending = asyncio.create_task(asked_to_end.wait())
        watching = asyncio.create_task(server.watch())
        looking = asyncio.create_task(_look_out(coordination, environment))
        gate = asyncio.create_task(_keep_gate(environment))
        done, _ = await asyncio.wait(
            {syncing, ending, watching}, return_when=asyncio.FIRST_COMPLETED
        )
        for task in (syncing, ending, watching, looking, gate):
            task.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await syncing
        except ReplacedError:
            _log.warning("Another coordinator has taken over action=exit")
            return ExitCode.REPLACED
        server.save()
        if watching in done:
            await watching  # only an error ends it, and none may pass for a job that is over
    return ExitCode.COMPLETED if syncing in done else ExitCode.UNHEARD


async def _look_out(coordination: Coordination, environment: CoordinatorEnvironment) -> None:
    if environment.rendezvous is not None:
        await foreign_group.look_out(coordination, *environment.rendezvous)


async def _keep_gate(environment: CoordinatorEnvironment) -> None:
    if environment.has_gate:
        await keeping.keep(environment.host)


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    return asyncio.run(run(CoordinatorEnvironment.read(os.environ)))


if __name__ == "__main__":
    sys.exit(main())
