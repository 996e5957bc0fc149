"""How does the attendant become the worker's user, and what if somebody kills or stops it?

Started as `python -S -E -m cluster.process_host.shells.threshold <record folder>`. The attendant is
its child, with the user, bounds and variables of the worker's launch. It stays as the service's own
user, out of the reach of jobs that have another, and kills what an attendant that was killed left
behind. Standard library only, and only quick imports.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

from cluster.process_host.commands import command
from cluster.process_host.record import records
from cluster.shells.attendant import children
from cluster.shells.program import ATTENDANT

_REAP_SECONDS: Final = 3.0


def main(folder: str) -> None:
    """Start the attendant in the worker's folder, and end when nothing of it is left."""
    launch = records.read(records.CommandRecord(folder=Path(folder)).launch_path)
    if launch is None:
        sys.exit("This worker is not there any more.")
    wanted = {**launch["command"], "arguments": [sys.executable, "-I", "-c", ATTENDANT]}
    command.adopt_grandchildren()
    attendant = os.fork()
    if attendant == 0:
        command.become(command.ProcessCommand(**wanted))
    signal.signal(signal.SIGTERM, lambda *_: _kill(attendant))
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # the attendant's end is to be seen by whoever reads
        os.dup2(nothing, descriptor)
    while os.wait()[0] != attendant:
        pass
    _kill_leftovers()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _kill_leftovers() -> None:
    """Kill what an attendant left that could not do so itself."""
    give_up_at = time.monotonic() + _REAP_SECONDS
    while (left := children()) and time.monotonic() < give_up_at:
        for pid in left:
            _kill(pid)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1])
