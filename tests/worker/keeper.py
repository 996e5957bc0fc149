"""Keeps a worker for a test: `keeper.py <name> <log> <order>`, started by a zygote.

Tells on its output which process the worker is and, when it has ended, how; ends it when the test
run ends. There is one for each worker, so it imports little.
"""

import os
import select
import socket
import sys


def main(name: str, log_path: str, order: str, *warm_start: str) -> None:
    """The zygote gives the last arguments; `order` is a `warm_child.WarmChildCommand`, as JSON."""
    pid, channel, connection = map(int, warm_start)
    os.set_inheritable(connection, False)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    with socket.socket(fileno=channel) as worker:
        line = order.encode() + b"\n"
        sent = socket.send_fds(worker, [line], [log, log])
        if rest := line[sent:]:
            worker.sendall(rest)
    _say(f"{name} began {pid}\n")
    select.select([os.pidfd_open(pid), connection], [], [])
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        _say(f"{name} ended {os.waitstatus_to_exitcode(status)}\n")


def _say(line: str) -> None:
    os.write(1, line.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
