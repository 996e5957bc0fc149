"""A coordinator that kills itself at one precise moment: `doomed_coordinator.py WHEN KIND COUNT`.

`before SendPlan 2`: its memory is saved, one plan was sent, the second is not. `after
WorkerSwitched 1`: it has noted the first such event and carried out what follows from it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from concertina_worker.coordinator import __main__
from concertina_worker.coordinator.server import Server


def main(when: str, kind: str, count: int) -> int:
    name = "handle" if when == "after" else "_carry_out"
    original = getattr(Server, name)
    left = count

    def wrapped(server: Server, what: Any) -> None:
        nonlocal left
        left -= type(what).__name__ == kind
        if when == "after":
            original(server, what)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if when == "before":
            original(server, what)

    setattr(Server, name, wrapped)
    return __main__.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
