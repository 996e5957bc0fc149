"""Starts worker scripts in an instant: torch is imported once, then every worker is a fork.

Reads one JSON request a line (`{"name", "argv", "environment", "log"}`), answers with lines
`{"name", "pid"}` and, when a worker has ended, `{"name", "code"}` (negative: by that signal).
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import select
import signal
import sys
import threading
from typing import Any, NoReturn

import torch

import concertina_worker.job  # noqa: F401 - what takes long to import

_PR_SET_PDEATHSIG = 1


def main() -> None:
    assert threading.active_count() == 1, "forking with threads loses their locks"
    torch.set_num_threads(1)
    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])  # imports half of torch, at first use
    names: dict[int, str] = {}
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wake, notify = os.pipe()
    os.set_blocking(notify, False)
    signal.set_wakeup_fd(notify)
    while True:
        ready, _, _ = select.select([sys.stdin, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _reap(names)
        if sys.stdin in ready:
            line = os.read(sys.stdin.fileno(), 65536)
            if not line:
                return
            for request in line.splitlines():
                _fork(json.loads(request), names)


def _fork(request: dict[str, Any], names: dict[int, str]) -> None:
    pid = os.fork()
    if pid == 0:
        _become(request)
    names[pid] = request["name"]
    _say({"name": request["name"], "pid": pid})


def _become(request: dict[str, Any]) -> NoReturn:
    """Never returns to the loop: ends like an ordinary `python script.py`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(request["environment"])
    sys.argv = request["argv"]
    raise _Become(sys.argv[0])


class _Become(BaseException):
    """Unwinds the zygote's loop in the child."""

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self.script = script


def _reap(names: dict[int, str]) -> None:
    while names:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        _say({"name": names.pop(pid), "code": os.waitstatus_to_exitcode(status)})


def _say(answer: dict[str, Any]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    try:
        main()
    except _Become as child:
        script = child.script
    else:
        sys.exit(0)
    runpy.run_path(script, run_name="__main__")
