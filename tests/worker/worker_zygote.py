"""The test's end of the zygote: starts workers, knows which have ended."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


@dataclass(slots=True, kw_only=True)
class WorkerProcess:
    """A forked worker."""

    pid: int = 0
    code: int | None = None
    has_started: threading.Event = field(default_factory=threading.Event)

    def poll(self) -> int | None:
        """The exit code (negative: ended by that signal); None while it runs."""
        return self.code

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class WorkerZygote:
    """One zygote for all tests of a run."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("zygote.py"))],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": python_path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=die_with_the_parent,  # noqa: PLW1509 - one system call, no locks
        )
        self._workers: dict[str, WorkerProcess] = {}
        self._count = 0
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def start(self, argv: list[str], environment: dict[str, str], log: Path) -> WorkerProcess:
        self._count += 1
        name = str(self._count)
        worker = self._workers[name] = WorkerProcess()
        request = {"name": name, "argv": argv, "environment": environment, "log": str(log)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        assert worker.has_started.wait(60), "the zygote does not fork"
        return worker

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            worker = self._workers[answer["name"]]
            if "pid" in answer:
                worker.pid = answer["pid"]
                worker.has_started.set()
            else:
                worker.code = answer["code"]


def python_path() -> str:
    return os.pathsep.join(path for path in sys.path if path)


def die_with_the_parent() -> None:
    """However the test ends, the kernel ends its children."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
