"""How are supervisors started? All at once, and then waited for, because each needs a moment."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from cluster.process_host.commands.plain_python import DEFAULT_PATH
from cluster.process_host.commands.zygotes import ZygoteKeeper, Zygotes
from cluster.process_host.record import records
from cluster.source_root import SOURCE_ROOT
from cluster.worker_host import HostUnavailable, Labels

_TIMEOUT_SECONDS: Final = 30.0  # a supervisor needs 0.1 s; generous for a loaded machine
_WARM_TIMEOUT_SECONDS: Final = 5.0  # for all; then the ordinary way, and only one of two will run

Start = tuple[records.CommandRecord, Labels]


def start_supervisors(starts: Iterable[Start], zygotes: Zygotes) -> None:
    """Start a supervisor for each record; returns when all starts are on record.

    Raises:
        HostUnavailable: not all could be started; those that could, run.
    """
    beginning: list[subprocess.Popen[bytes]] = []
    try:
        cold = _start_warm(starts, zygotes)
        beginning.extend(_begin(record, labels) for record, labels in cold)
    except OSError as problem:
        raise HostUnavailable(f"No supervisor could be started: {problem}") from problem
    finally:
        slow = _wait_for(beginning)
    if slow:
        raise HostUnavailable(f"{slow} supervisors did not start in {_TIMEOUT_SECONDS:.0f} s.")
    zygotes.prepare([_command(record) for record, _ in cold])


def _start_warm(starts: Iterable[Start], zygotes: Zygotes) -> list[Start]:
    """Let zygotes start what they can; returns the others."""
    answers = [(start, _ask(start, zygotes)) for start in starts]
    give_up_at = time.monotonic() + _WARM_TIMEOUT_SECONDS
    for _, connection in answers:
        if connection is not None:
            _wait_until_closed(connection, give_up_at)
    return [
        start for start, connection in answers if connection is None or not start[0].was_started
    ]


def _ask(start: Start, zygotes: Zygotes) -> socket.socket | None:
    record, labels = start
    with (record.folder / "supervisor.log").open("ab") as output:
        keeper = ZygoteKeeper(
            command=_supervisor(record),
            env=_environment(record, labels),
            workdir=str(SOURCE_ROOT),
            output=output.fileno(),
        )
        return zygotes.ask(_command(record), keeper)


def _begin(record: records.CommandRecord, labels: Labels) -> subprocess.Popen[bytes]:
    """It leaves our process tree; what we have is its parent, which ends when it is on record."""
    with (record.folder / "supervisor.log").open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            _supervisor(record),
            cwd=SOURCE_ROOT,
            env=_environment(record, labels),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _supervisor(record: records.CommandRecord) -> tuple[str, ...]:
    arguments = ("-S", "-E", "-m", "cluster.process_host.supervisor", str(record.folder))
    return (sys.executable, *arguments)


def _environment(record: records.CommandRecord, labels: Labels) -> dict[str, str]:
    return {
        "PATH": DEFAULT_PATH,
        records.RECORD_VARIABLE: str(record.folder),
        records.LABELS_VARIABLE: json.dumps(asdict(labels)),
    }


def _command(record: records.CommandRecord) -> dict[str, Any]:
    launch = records.read(record.launch_path) or {}
    command: dict[str, Any] = launch["command"]
    return command


def _wait_until_closed(connection: socket.socket, give_up_at: float) -> None:
    """The zygote's keeper does it once the start is on record; it ends if it cannot start."""
    with connection, contextlib.suppress(OSError):
        connection.settimeout(max(give_up_at - time.monotonic(), 0.0))
        connection.recv(1)


def _wait_for(beginning: Sequence[subprocess.Popen[bytes]]) -> int:
    """Returns how many did not come in time; those are not waited for any longer."""
    give_up_at = time.monotonic() + _TIMEOUT_SECONDS
    slow = 0
    for parent in beginning:
        try:
            parent.wait(timeout=max(give_up_at - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            parent.kill()
            parent.wait()
            slow += 1
    return slow
