"""A coordinator that kills itself at one precise moment: `doomed_coordinator.py WHEN KIND COUNT`.

`before SendPlan 2`: its memory is saved, one plan was sent, the second is not. `after
WorkerSwitched 1`: it has noted the first such event and carried out what follows from it. A store
counts when it is that of a pending plan: of the others every worker that comes back tells again.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from patient_coordinator import be_patient

from concertina_worker.coordinator import __main__
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.events import StoreOpened


def main(when: str, kind: str, count: int) -> int:
    name = "handle" if when == "after" else "_carry_out"
    original = getattr(Server, name)
    left = count

    def wrapped(server: Server, what: Any) -> None:
        nonlocal left
        left -= type(what).__name__ == kind and not is_repeated(server, what)
        if when == "after":
            original(server, what)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if when == "before":
            original(server, what)

    setattr(Server, name, wrapped)
    be_patient()
    return __main__.main()


def is_repeated(server: Server, what: Any) -> bool:
    pending = server._coordination.memory.pending  # noqa: SLF001 - what it is about to do
    awaited = pending.generation if pending else 0
    return isinstance(what, StoreOpened) and what.generation != awaited


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
