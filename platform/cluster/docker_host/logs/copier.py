"""Who copies the logs of containers? One program beside each service process that starts them.

A flood of lines then takes none of the control loop's time. It reads its orders from standard
input, a document for each line: first its settings, then the containers, each of which gets a
thread. It tells on standard output what becomes of them, and ends with its input, that is with
whoever gave the orders.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, Final

from cluster.background.told_once import ToldOnce
from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.docker_host.logs.copying import Copy, LogSource, read_source
from cluster.logs.log_files import LogBounds

_NICENESS: Final = 5  # what is late is still there


class Copier:
    """Copies the log of each container that it is told of."""

    def __init__(self, settings: dict[str, Any]) -> None:
        seconds = settings["answer_seconds"]
        self._connections = Connections(answer_seconds=seconds, tunnels=Tunnels(seconds=seconds))
        self._state_dir = Path(settings["state_dir"])
        self._bounds = LogBounds(**settings["bounds"])
        self._lock = threading.Lock()

    def begin(self, source: LogSource) -> None:
        threading.Thread(target=self._run, args=(source,), daemon=True).start()

    def _run(self, source: LogSource) -> None:
        said_once = ToldOnce()

        def complain(said: str) -> None:
            if said_once.is_new(source.container, said):
                self._tell(source, complaint=said)

        copy = Copy(
            source,
            state_dir=self._state_dir,
            connections=self._connections,
            bounds=self._bounds,
            complain=complain,
        )
        try:
            copy.run()
        except Exception as problem:  # noqa: BLE001 - tried again when it is next listed
            self._tell(source, problem=repr(problem), is_lost=_is_full(problem))
        else:
            self._tell(source, problem="", is_lost=False)

    def _tell(self, source: LogSource, **what: object) -> None:
        with self._lock:
            sys.stdout.write(json.dumps({"container": source.container, **what}) + "\n")
            sys.stdout.flush()


def main() -> None:
    """Take orders until there are no more; what is copied then is copied by whoever comes next."""
    os.nice(_NICENESS)
    orders = iter(sys.stdin.readline, "")
    copier = Copier(json.loads(next(orders)))
    for order in orders:
        copier.begin(read_source(json.loads(order)))
    os._exit(0)


def _is_full(problem: Exception) -> bool:
    """Our disk, or our share of it: that may last for ever."""
    return isinstance(problem, OSError) and problem.errno in {errno.ENOSPC, errno.EDQUOT}


if __name__ == "__main__":
    main()
