"""How is the command itself started, and what goes with it when its supervisor dies?

`spawn` forks and replaces the child with the command: own session and process group, a clean
environment, its limits, its output in our pipes, and the kernel's promise to kill it when the
supervisor ends first. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from cluster.process_host.users.confinement import confine

NOT_FOUND = 127  # the shell's exit codes, which people know
NOT_EXECUTABLE = 126

_SET_PARENT_DEATH_SIGNAL = 1  # numbers of prctl(2)
_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCommand:
    """What to run. `memory_bytes` bounds the data a process may allocate; None: no bound."""

    arguments: Sequence[str]
    env: Mapping[str, str]
    workdir: str
    memory_bytes: int | None = None
    user: int | None = None  # whom to become, see `confinement`; None: nobody else
    visible: Sequence[str] = ()  # folders that this user sees whatever is closed around them
    hidden: Sequence[str] = ()  # folders of which it sees nothing else


class CannotRun(Exception):
    """The command cannot be started; the message tells a person why."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def spawn(command: ProcessCommand, *, stdout: int, stderr: int) -> int:
    """Start the command and return its pid, which is also its process group.

    A command that cannot be started ends at once with 127 or 126, the reason on its stderr.
    """
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(command, stdout=stdout, stderr=stderr, supervisor=supervisor)
    return pid


def adopt_grandchildren() -> None:
    """Make processes whose parent ended children of this one, so that none is lost sight of."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def _become(command: ProcessCommand, *, stdout: int, stderr: int, supervisor: int) -> NoReturn:
    try:
        os.setsid()
        _end_with(supervisor)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        _connect(stdout, stderr)
    except BaseException as problem:  # noqa: BLE001 - a fork must never return
        _say(f"cannot start: {problem}")
        os._exit(NOT_EXECUTABLE)
    become(command, ends_with=supervisor)


def become(command: ProcessCommand, *, ends_with: int | None = None) -> NoReturn:
    """Make this process the command, with its bounds and as its user; or end and say why not.

    `ends_with`: the parent whose end is to be its end.
    """
    try:
        _limit(command.memory_bytes)
        if command.user is not None:
            confine(command.user, command.visible, command.hidden)
            if ends_with is not None:
                _end_with(ends_with)
        _execute(command)
    except CannotRun as problem:
        _say(str(problem))
        os._exit(problem.exit_code)
    except BaseException as problem:  # noqa: BLE001 - a fork must never return
        _say(f"cannot start: {problem}")
    os._exit(NOT_EXECUTABLE)


def _end_with(supervisor: int) -> None:
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(-signal.SIGKILL & 0xFF)


def _say(message: str) -> None:
    os.write(2, f"concertina: {message}\n".encode(errors="replace"))


def _connect(stdout: int, stderr: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)


def _limit(memory_bytes: int | None) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


def _execute(command: ProcessCommand) -> None:
    name = command.arguments[0]
    try:
        os.chdir(command.workdir)
    except OSError as problem:
        raise CannotRun(_no_entrance(command, problem), NOT_FOUND) from None
    try:
        os.execvpe(name, list(command.arguments), dict(command.env))  # noqa: S606 - our purpose
    except FileNotFoundError:
        where = "" if "/" in name else f" in PATH ({command.env.get('PATH', '')})"
        raise CannotRun(f"command not found: {name!r}{where}", NOT_FOUND) from None
    except OSError as problem:
        raise CannotRun(f"cannot execute {name!r}: {problem.strerror}", NOT_EXECUTABLE) from None


def _no_entrance(command: ProcessCommand, problem: OSError) -> str:
    message = f"cannot enter the working directory {command.workdir!r}: {problem.strerror}"
    if command.user is None or not isinstance(problem, PermissionError | FileNotFoundError):
        return message
    return f"{message} (the team's jobs run as user {command.user}, who must be let in)"


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
