"""What does the way a worker ended mean for its job?"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from cluster.worker_host import Failing

from concertina_worker.protocol import ExitCode
from jobs.spec.quantities import format_size


class WorkerEnding(StrEnum):
    """Why a worker ended, as far as its exit code and its host tell."""

    COMPLETED = "completed"  # ran to its end
    RELEASED = "released"  # left because it was told to
    CANNOT_RUN = "cannot_run"  # the command does not exist or cannot be executed
    ENDED_EARLY = "ended_early"  # its script did, before its training was through
    FAILED = "failed"  # the job's own code went wrong
    LOST = "lost"  # ended from outside: killed, out of memory, machine gone
    NO_IMAGE = "no_image"  # never ran: its image cannot be fetched
    NOT_STARTED = "not_started"  # never ran: nobody could start it


NEVER_RAN: Final = frozenset({WorkerEnding.NO_IMAGE, WorkerEnding.NOT_STARTED})


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
    ExitCode.COMPLETED: WorkerEnding.COMPLETED,
    ExitCode.RELEASED: WorkerEnding.RELEASED,
    ExitCode.ENDED_EARLY: WorkerEnding.ENDED_EARLY,
    ExitCode.COORDINATOR_LOST: WorkerEnding.LOST,
    ExitCode.OUT_OF_MEMORY: WorkerEnding.LOST,
    ExitCode.COMMAND_NOT_FOUND: WorkerEnding.CANNOT_RUN,
    ExitCode.COMMAND_NOT_EXECUTABLE: WorkerEnding.CANNOT_RUN,
}
_BY_FAILING: Final = {
    Failing.IMAGE_UNAVAILABLE: WorkerEnding.NO_IMAGE,
    Failing.CANNOT_START: WorkerEnding.NOT_STARTED,
}
_WELL: Final = frozenset({ExitCode.COMPLETED, ExitCode.RELEASED, ExitCode.ENDED_EARLY})
AT_THE_END: Final = frozenset({WorkerEnding.COMPLETED, WorkerEnding.ENDED_EARLY})  # of the script


def ending_of(exit_code: int | None, failing: str = "") -> WorkerEnding:
    """None: nobody saw it end. Signals of a crash count as the job's own failure.

    Whatever a script returns after the kernel killed a part of it for its memory: it was lost.
    """
    if failing in _BY_FAILING:
        return _BY_FAILING[Failing(failing)]
    if failing == Failing.OUT_OF_MEMORY and exit_code not in _WELL:
        return WorkerEnding.LOST
    if exit_code is None:
        return WorkerEnding.LOST
    if exit_code < 0:
        return WorkerEnding.FAILED if -exit_code in _OWN_CRASHES else WorkerEnding.LOST
    known = {int(code): ending for code, ending in _BY_CODE.items()}
    return known.get(exit_code, WorkerEnding.FAILED)


def headline(error: str) -> str:
    """The one line that tells most of what a script said: a traceback's last, else the first."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


_SAYS_ITSELF: Final[Mapping[str, str]] = {
    "SyntaxError": "Correct the script",
    "IndentationError": "Correct the script",
    "TabError": "Correct the script",
    "ModuleNotFoundError": "Install the package where `command` finds it, or name another `image`",
    "ImportError": "Install the package where `command` finds it, or name another `image`",
}
_USAGE_EXIT_CODE: Final = 2  # of argparse, click, and of Python when it finds no script
_USAGE: Final = re.compile(r"\berror: |can't open file|^Error: ")


def cannot_run_as_it_stands(exit_code: int | None, error: str) -> str:
    """Return what to change if the script's last words say that no retry can help; else empty.

    Errors of syntax and of imports, and arguments that the script does not take.
    """
    said = headline(error)
    kind = said.partition(":")[0]
    if kind in _SAYS_ITSELF:
        return f"{said.rstrip('.')}. {_SAYS_ITSELF[kind]} and submit again."
    if exit_code == _USAGE_EXIT_CODE and _USAGE.search(said):
        return f"{said.rstrip('.')}. Correct `command` and submit again."
    return ""


def described(exit_code: int | None) -> str:
    """`exit code 1`, `signal SIGKILL`: how a sentence goes on after "ended with"."""
    if exit_code is None:
        return "no trace"
    if exit_code == ExitCode.COORDINATOR_LOST:
        return f"exit code {exit_code} (it had no coordinator for too long)"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"


def killed_for_memory(worker_id: str, memory: int | None) -> str:
    """The kernel's reason, as a sentence that tells what to change."""
    most = f"its {format_size(memory)} of memory" if memory else "its share of the node's memory"
    return (
        f"{worker_id} was killed because it needed more than {most}."
        " Raise `resources.memory` or lower the batch."
    )
