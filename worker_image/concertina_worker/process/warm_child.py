"""How does a fork of the zygote become what `python script.py` would have made of a new process?

Its keeper tells it over a channel: the arguments behind `python`, environment, working directory,
and where its output goes. Standard library only.
"""

from __future__ import annotations

import gc
import json
import os
import random
import runpy
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from concertina_worker.process import python_program
from concertina_worker.process.parent_death import die_with
from concertina_worker.process.title import show

_MOST_BYTES: Final = 1024 * 1024
_CANNOT_START, _NOT_FOUND = 126, 127  # the shell's exit codes


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmChildCommand:
    """What a warm child is to run."""

    arguments: list[str]
    env: dict[str, str]
    workdir: str
    outputs: list[int]  # descriptors for stdout and stderr
    confinement: dict[str, Any] | None = None  # a program's function to call first, with what

    def obey(self) -> NoReturn:
        """Run it as the main program; call it near the top of the stack."""
        _connect(self.outputs)
        os.environ.clear()  # before the memory in which it began is written over
        os.environ.update(self.env)
        show([sys.executable, *self.arguments], self.env)
        _restore_signals()
        _draw_new_randomness()
        if self.confinement is not None:
            _confine(**self.confinement)
        _enter(self.workdir)
        python_program.run(self.arguments)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """One line of JSON, and two descriptors that came with it.

    Raises:
        ValueError: it ended too early, or is too long.
    """
    data, descriptors, _, _ = socket.recv_fds(connection, 65536, 2)
    try:
        return _rest_of(data, connection), descriptors
    except (OSError, ValueError):
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _rest_of(data: bytes, connection: socket.socket) -> dict[str, Any]:
    while not data.endswith(b"\n"):
        more = connection.recv(65536)
        if not more or len(data) > _MOST_BYTES:
            raise ValueError("not a whole request")
        data += more
    message: dict[str, Any] = json.loads(data)
    return message


def belong_to(keeper: int) -> None:
    """Have a session of its own, and end when the keeper is killed."""
    os.setsid()
    die_with(keeper)


def await_order(channel: socket.socket) -> WarmChildCommand:
    """Ends the process when the keeper does not need it after all."""
    try:
        with channel:
            message, outputs = receive(channel)
    except (OSError, ValueError):
        os._exit(0)
    return WarmChildCommand(
        arguments=[str(argument) for argument in message["arguments"]],
        env={str(name): str(value) for name, value in message["env"].items()},
        workdir=str(message["workdir"]),
        outputs=outputs,
        confinement=message.get("confinement"),
    )


def _connect(outputs: list[int]) -> None:
    """Put the outputs in their places; nothing of the zygote stays open."""
    gc.collect()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, descriptor in enumerate(outputs, start=1):
        os.dup2(descriptor, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _confine(program: str, function: str, given: dict[str, Any]) -> None:
    """Have the caller's program take rights away from this process, which ends if it cannot.

    The kernel forgets the keeper meanwhile, so it is told anew.
    """
    keeper = os.getppid()
    try:
        runpy.run_path(program)[function](**given)
    except BaseException as problem:  # noqa: BLE001 - nothing may run with the rights it has
        _end(f"cannot start: {problem}", _CANNOT_START)
    die_with(keeper)


def _enter(workdir: str) -> None:
    try:
        os.chdir(workdir)
    except OSError as problem:
        _end(f"cannot enter the working directory {workdir!r}: {problem.strerror}", _NOT_FOUND)


def _end(message: str, exit_code: int) -> NoReturn:
    os.write(2, f"concertina: {message}\n".encode(errors="replace"))
    os._exit(exit_code)


def _restore_signals() -> None:
    """Set the signals as Python has them at its start."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _draw_new_randomness() -> None:
    """Generators that seed themselves at import would be the same in every fork."""
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
