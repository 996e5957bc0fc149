"""The test's end of the zygote: starts workers, knows which have ended."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

from cluster.process_host.commands.zygotes import ZygoteKeeper, Zygotes
from cluster.process_host.record import leftovers

_PATIENCE_SECONDS: Final = 120.0
_IMPORTED: Final = ("concertina_worker.imports", "concertina_worker.coordinator.__main__")
_BRIEF_END: Final = "tests.worker.brief_end"  # not to be imported here
_STACK_SIGNAL: Final = "tests.worker.stack_signal"
BRIEFLY: Final = {"TESTS_BRIEF_END": "yes"}  # for the environment of a worker that is to end so
_KEEPER: Final = str(Path(__file__).with_name("keeper.py"))


@dataclass(slots=True, kw_only=True)
class WorkerProcess:
    """A forked worker, or its coordinator."""

    pid: int = 0
    code: int | None = None
    connection: socket.socket | None = None  # while it is open, the keeper stays
    has_started: threading.Event = field(default_factory=threading.Event)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def poll(self) -> int | None:
        """The exit code (negative: ended by that signal); None while it runs."""
        return self.code

    def wait(self) -> None:
        """Until it has ended."""
        assert self.has_ended.wait(_PATIENCE_SECONDS), f"process {self.pid} does not end"

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class WorkerZygote:
    """One zygote for all tests of a run."""

    def __init__(self, folder: Path, *modules: str) -> None:
        self._folder = folder
        self._zygotes = Zygotes(
            folder=folder,
            marks=folder,
            modules=(_BRIEF_END, _STACK_SIGNAL, *_IMPORTED, *modules),
            version="of this run",
            idle_seconds=900.0,  # other tests may run for long between two that need it
            after_seconds=0.0,
        )
        self._zygotes.prepare([_command([], {})])
        wait_for(lambda: list(folder.glob("*/socket")), "the zygote is warm", seconds=400)
        self._workers: dict[str, WorkerProcess] = {}
        self._numbers = itertools.count()  # jobs side by side start workers from threads
        reader, self._output = os.pipe()
        self._reader = threading.Thread(target=self._read, args=(os.fdopen(reader),))
        self._reader.start()

    def start(self, argv: list[str], environment: dict[str, str], log: Path) -> WorkerProcess:
        name = str(next(self._numbers))
        command = _command(argv, environment)
        order = json.dumps({**command, "arguments": argv})
        keeper = (sys.executable, "-S", _KEEPER, name, str(log), order)
        worker = self._workers[name] = WorkerProcess()
        worker.connection = self._zygotes.ask(
            command, ZygoteKeeper(command=keeper, env={}, workdir="/", output=self._output)
        )
        assert worker.connection is not None, "the zygote does not answer"
        assert worker.has_started.wait(_PATIENCE_SECONDS), "the zygote does not fork"
        return worker

    def close(self) -> None:
        leftovers.kill_all(self._folder)
        for worker in self._workers.values():
            if worker.connection is not None:
                worker.connection.close()
        os.close(self._output)
        self._reader.join()

    def _read(self, lines: TextIO) -> None:
        with lines:
            for line in lines:
                name, what, number = line.split()
                worker = self._workers[name]
                if what == "began":
                    worker.pid = int(number)
                    worker.has_started.set()
                else:
                    worker.code = int(number)
                    worker.has_ended.set()


def _command(argv: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """The same to a zygote, whatever the script."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    env = {**kept, "OMP_NUM_THREADS": "1", "PYTHONPATH": python_path()}
    return {
        "arguments": [sys.executable, *(argv or [_KEEPER])],
        "env": {**env, **environment},
        "workdir": str(Path.cwd()),
    }


def python_path() -> str:
    return os.pathsep.join(path for path in sys.path if path)


def wait_for(
    condition: Callable[[], Any], what: str, *, seconds: float = _PATIENCE_SECONDS
) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)
