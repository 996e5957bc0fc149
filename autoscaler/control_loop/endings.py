"""What does a worker's exit code mean for its job?"""

from __future__ import annotations

import signal
from enum import StrEnum
from typing import Final

from concertina_worker.protocol import ExitCode


class Ending(StrEnum):
    """Why a worker ended, as far as its exit code tells."""

    COMPLETED = "completed"  # ran to its end
    RELEASED = "released"  # left because it was told to
    CANNOT_RUN = "cannot_run"  # the command does not exist or cannot be executed
    FAILED = "failed"  # the job's own code went wrong
    LOST = "lost"  # ended from outside: killed, out of memory, machine gone


_OWN_CRASHES: Final = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSYS,
        signal.SIGTRAP,
    }
)
_BY_CODE: Final = {
    ExitCode.COMPLETED: Ending.COMPLETED,
    ExitCode.RELEASED: Ending.RELEASED,
    ExitCode.COORDINATOR_LOST: Ending.LOST,
    ExitCode.OUT_OF_MEMORY: Ending.LOST,
    ExitCode.COMMAND_NOT_FOUND: Ending.CANNOT_RUN,
    ExitCode.COMMAND_NOT_EXECUTABLE: Ending.CANNOT_RUN,
}


def ending_of(exit_code: int | None) -> Ending:
    """None: nobody saw it end. Signals of a crash count as the job's own failure."""
    if exit_code is None:
        return Ending.LOST
    if exit_code < 0:
        return Ending.FAILED if -exit_code in _OWN_CRASHES else Ending.LOST
    known = {int(code): ending for code, ending in _BY_CODE.items()}
    return known.get(exit_code, Ending.FAILED)


def headline(error: str) -> str:
    """The one line that tells most of what a script said: a traceback's last, else the first."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def described(exit_code: int | None) -> str:
    """`exit code 1`, `signal SIGKILL`: how a sentence goes on after "ended with"."""
    if exit_code is None:
        return "no trace"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"
