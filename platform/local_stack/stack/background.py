"""How does the stack run behind another program, and how does it end again?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from local_stack import stack_record
from local_stack.checkout import Checkout
from local_stack.processes.tether import tethered
from local_stack.stack import leftovers
from local_stack.stack.stack import Options
from local_stack.stack_record import AlreadyUp, StackPhase, StackRecord

POLL_SECONDS = 0.1
ALREADY_UP = 4  # exit code of a supervisor that another one was faster than
START_SECONDS = 180.0
START_SECONDS_BY_HOST = {
    "docker": 900.0,  # guessed: images may have to be made first
    "ray": 600.0,  # guessed: three daemons come up one after the other, each in 5 s to 1 min
}
STOP_SECONDS = 60.0


class DidNotStart(Exception):
    """The stack ended or hung while it started; what it said last tells why."""


def start(
    checkout: Checkout, options: Options, *, ends_with_us: bool, say: Callable[[str], None]
) -> StackRecord:
    """Start the stack in the background and wait until it is ready.

    Args:
        checkout: whose stack.
        options: how it should run.
        ends_with_us: whether the stack stops in order when this process ends, however it ends.
        say: told each step of the start.

    Raises:
        AlreadyUp: another supervisor was faster; see `settled`.
        DidNotStart: what it said was said here, too.
    """
    checkout.make_folders()
    log = checkout.logs_dir / "supervisor.log"
    command = [sys.executable, "-m", "local_stack", "supervise", *_arguments(options)]
    if ends_with_us:
        command = tethered(tuple(command), death_signal=signal.SIGTERM)
    offset = log.stat().st_size if log.exists() else 0
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
        process = subprocess.Popen(
            command,
            cwd=checkout.root,
            env={**os.environ, "CONCERTINA_HOME": str(checkout.state_dir)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    threading.Thread(target=process.wait, daemon=True).start()  # whenever it ends, no zombie stays
    seconds = START_SECONDS_BY_HOST.get(options.host, START_SECONDS)
    return _wait_until_ready(checkout, process, _NewLines(log, offset), say, seconds=seconds)


def settled(checkout: Checkout) -> StackRecord | None:
    """The record of the stack that is ready; None if none is up. Waits out starts and stops."""
    while (record := stack_record.current(checkout)) is not None:
        if record.phase is StackPhase.READY:
            return record
        time.sleep(POLL_SECONDS)
    return None


def _wait_until_ready(
    checkout: Checkout,
    process: subprocess.Popen[bytes],
    lines: _NewLines,
    say: Callable[[str], None],
    *,
    seconds: float,
) -> StackRecord:
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        record = stack_record.read(checkout)  # first: what is said until it is ready is told, too
        if record and record.supervisor_pid == process.pid:  # before, others write there
            for line in lines.read():
                say(line)
            if record.phase is StackPhase.READY:
                return record
        time.sleep(POLL_SECONDS)
    if process.poll() == ALREADY_UP:
        raise AlreadyUp(AlreadyUp.__doc__)
    process.terminate()
    for line in lines.read():
        say(line)
    raise DidNotStart("The service did not start.")


class _NewLines:
    """The whole lines that were added to a file since we looked last."""

    def __init__(self, file: Path, offset: int) -> None:
        self._file = file
        self._offset = offset

    def read(self) -> list[str]:
        with self._file.open("rb") as stream:
            stream.seek(self._offset)
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines() if newline else []


def stop(checkout: Checkout, *, say: Callable[[str], None]) -> bool:
    """Stop the stack in order and wait until nothing of it is left; False: it was not up."""
    record = stack_record.current(checkout)
    was_up = record is not None
    if record is not None:
        _end_supervisor(checkout, record)
    if checkout.state_dir.exists():
        with stack_record.exclusive(checkout):
            leftovers.sweep_processes(checkout, say=say)
            leftovers.sweep_training(checkout, say=say)
            leftovers.sweep_containers(checkout, say=say)
            leftovers.sweep_sockets(checkout)
    return was_up


def _end_supervisor(checkout: Checkout, record: StackRecord) -> None:
    os.kill(record.supervisor_pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while stack_record.is_up(checkout):
        if time.monotonic() > deadline:
            os.kill(record.supervisor_pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _arguments(options: Options) -> list[str]:
    slots = [] if options.slots is None else ["--slots", str(options.slots)]
    measured = ["--measured"] if options.is_measured else []
    seconds = str(options.tick_seconds)
    return [*slots, *measured, "--tick-seconds", seconds, "--host", options.host]
