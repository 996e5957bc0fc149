"""How does a training script start in an instant? As a fork of a process that has imported all.

`python -m concertina_worker.zygote <lock> <socket> <after seconds> <idle seconds> [module …]
<room>` waits for a moment, imports the modules, which takes seconds, once, and then serves starts
over the socket until nothing that it started has run for the idle time. As long as it lives it
holds the lock, a file that says its pid. It never runs a script, starts no thread and touches no
GPU: forks would inherit the ruins. (`room`: see `process.title`.)

A start makes two processes. The *keeper*, a program of the caller's choice, is executed anew; its
only child, the *warm* one, is a fork of the zygote that waits to be told what to run (see
`warm_child`). The keeper gets three more arguments: the child's pid, the descriptor over which to
tell it, and one that closes for the caller of the zygote once nobody has it open. So a keeper
signals, waits for and outlives the warm process like any child of its own, and neither of them
needs the zygote any more. Linux only.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

from concertina_worker.process import warm_child

_REQUEST_SECONDS: Final = 5.0  # for a request to arrive; the caller sends it at once
_POLL_SECONDS: Final = 5.0


class Zygote:
    """Serves starts; `serve` returns twice: in the zygote at its end, and in each warm child."""

    def __init__(self, listener: socket.socket, *, idle_seconds: float) -> None:
        self._listener = listener
        self._idle_seconds = idle_seconds
        self._used_at = time.monotonic()

    def serve(self) -> socket.socket | None:
        """Serve starts; return None in the zygote at its end, and its channel in a warm child."""
        while not self._is_idle():
            if select.select([self._listener], [], [], _POLL_SECONDS)[0]:
                self._used_at = time.monotonic()
                channel = self._answer()
                if channel is not None:
                    return channel
        return None

    def _is_idle(self) -> bool:
        """Collects keepers that ended, too."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                self._used_at = time.monotonic()
            self._used_at = time.monotonic()  # some are still there
        return time.monotonic() - self._used_at > self._idle_seconds

    def _answer(self) -> socket.socket | None:
        """A start; of one that makes no sense the caller sees the connection close."""
        connection, _ = self._listener.accept()
        connection.settimeout(_REQUEST_SECONDS)
        with connection:
            try:
                request, outputs = warm_child.receive(connection)
            except (OSError, ValueError):
                return None
            if os.fork() == 0:
                self._listener.close()
                return _begin(request, outputs, connection)
            for descriptor in outputs:
                os.close(descriptor)
        return None


def listen(path: Path) -> socket.socket:
    """Return a socket that listens by the time anybody finds it.

    From inside its folder, because a socket's address may have no more than 107 bytes.
    """
    listener = socket.socket(socket.AF_UNIX)
    with contextlib.chdir(path.parent):
        not_yet = Path(f".{path.name}")
        not_yet.unlink(missing_ok=True)
        listener.bind(str(not_yet))
        listener.listen()
        not_yet.rename(path.name)
    return listener


def _begin(request: dict[str, Any], outputs: list[int], connection: socket.socket) -> socket.socket:
    """Make the warm child in a fork, where this returns its channel; become its keeper."""
    try:
        os.setsid()
        keeper, (keeper_end, channel) = os.getpid(), socket.socketpair()
        pid = os.fork()
    except OSError:
        os._exit(1)
    if pid == 0:
        warm_child.belong_to(keeper)
        keeper_end.close()
        return channel
    try:
        _become_keeper(request, outputs, pid, keeper_end, connection)
    finally:
        os._exit(1)  # there is no such program: the warm child sees its channel close


def _become_keeper(
    request: dict[str, Any],
    outputs: list[int],
    pid: int,
    channel: socket.socket,
    connection: socket.socket,
) -> None:
    """The connection closes when the keeper closes it, which tells the caller that it is up."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, descriptor in enumerate(outputs, start=1):
        os.dup2(descriptor, number)
    for end in (channel, connection):
        end.setblocking(True)
        end.set_inheritable(True)
    os.chdir(request["workdir"])
    warm = (pid, channel.fileno(), connection.fileno())
    arguments = [str(argument) for argument in (*request["keeper"], *warm)]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(arguments[0], arguments, request["env"])  # noqa: S606


def _lock(path: Path) -> int | None:
    """Held until the process ends, and its child; None: another zygote holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return descriptor


def _write_pid(lock: int) -> None:
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())


def _load(modules: list[str]) -> None:
    """Load them, and let Python keep their bytecode for all: without us, other users load them."""
    usual = os.umask(0o022)
    for module in modules:
        importlib.import_module(module)
    os.umask(usual)


def _refuse_threads() -> None:
    """Refuse threads, of Python or libraries: what they hold would stay held in every fork.

    Libraries that can be forked end their threads before, and start them anew on either side where
    they are needed, as OpenBLAS does. So one fork comes first, and then we look who is left.
    """
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    tasks = Path("/proc/self/task").iterdir()
    if left := [task for task in tasks if task.name != str(os.getpid())]:
        names = ", ".join((task / "comm").read_text().strip() for task in left)
        raise RuntimeError(f"a zygote with threads ({names}): no fork would have them")


def main(
    lock_path: Path, address: Path, after_seconds: float, idle_seconds: float, modules: list[str]
) -> None:
    """Be the zygote to its end; or, in a warm child, the program that it was told to be."""
    lock = _lock(lock_path)
    if lock is None:
        return
    if os.fork():
        os._exit(0)  # leaves the process tree of whoever started it
    _write_pid(lock)
    time.sleep(after_seconds)
    _load(modules)
    _refuse_threads()
    gc.collect()
    gc.freeze()  # what is here now is shared: forks must not touch it to look for garbage
    channel = Zygote(listen(address), idle_seconds=idle_seconds).serve()
    if channel is None:
        address.unlink(missing_ok=True)
        return
    warm_child.await_order(channel).obey()


if __name__ == "__main__":
    lock_path, address, after_seconds, idle_seconds, *modules, _ = sys.argv[1:]
    main(Path(lock_path), Path(address), float(after_seconds), float(idle_seconds), modules)
