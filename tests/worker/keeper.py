"""Keeps a worker for a test: `keeper.py <name> <log> <command>`, started by a zygote.

Tells on its output which process the worker is and, when it has ended, how; ends it when the test
run ends.
"""

from __future__ import annotations

import json
import os
import select
import sys

from cluster.process_host.commands import warm
from cluster.process_host.commands.command import Command


def main(name: str, log_path: str, command: str, *warm_start: str) -> None:
    child = warm.inherited(*map(int, warm_start))
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    pid = warm.spawn(child, Command(**json.loads(command)), stdout=log, stderr=log)
    _say({"name": name, "pid": pid})
    select.select([os.pidfd_open(pid), child.connection], [], [])
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        _say({"name": name, "code": os.waitstatus_to_exitcode(status)})


def _say(answer: dict[str, object]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
