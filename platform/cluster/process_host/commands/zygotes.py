"""How does a plain Python command start in an instant? Through a zygote of its environment.

A zygote has imported what training scripts import, with those variables of a launch that libraries
read at their import. So it serves every launch that has the same, of whatever job. It sees no other
variable, hence no secret, and imports nothing that a job brings along (see `plain_python`). Nothing
depends on it: a launch that finds none starts in the ordinary way, and has one made for the next.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cluster.process_host.commands.plain_python import (
    can_start_warm,
    read_at_import,
    read_at_import_by_all,
)
from cluster.process_host.record import records
from cluster.process_host.users.folders import make_private

_ASK_SECONDS: Final = 2.0  # for a zygote that is there to take a request
_BEGIN_SECONDS: Final = 10.0  # for a new one to detach itself; it needs 0.1 s
_ROOM: Final = " " * 8192  # for the arguments and environments that its children show
_PROGRAM: Final = "concertina_worker.zygote"
_SOCKET: Final = "socket"
_LOCK: Final = "lock"  # a zygote holds it as long as it lives; says its pid, and when it was asked

logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZygoteKeeper:
    """The program that keeps a warm child: its command, environment and output."""

    command: Sequence[str]
    env: Mapping[str, str]
    workdir: str
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Zygotes:
    """The zygotes of one host, a folder for each."""

    folder: Path
    marks: Path  # whatever carries a mark inside this folder is swept with the host's processes
    modules: tuple[str, ...]  # what they import
    version: str  # of the code they import: one that imported older code is not asked
    after_seconds: float  # how long a new one waits before it does
    idle_seconds: float = 600.0  # guessed: trades 200 MB of memory for the next job's first step
    most: int = 4  # guessed: idle ones hold 200 MB each

    def ask(self, command: Mapping[str, Any], keeper: ZygoteKeeper) -> socket.socket | None:
        """Have the keeper started; the connection closes once it is up, or cannot be.

        None: this command cannot start warm, or not yet.
        """
        beginning = _beginning_of(command)
        if beginning is None:
            return None
        folder = self._folder_of(beginning)
        connection = _connect(folder)
        if connection is None:
            return None
        request = {
            "keeper": list(keeper.command),
            "env": dict(keeper.env),
            "workdir": keeper.workdir,
        }
        try:
            line = json.dumps(request).encode() + b"\n"
            socket.send_fds(connection, [line], [keeper.output, keeper.output])
        except OSError:
            connection.close()
            return None
        with contextlib.suppress(OSError):
            os.utime(folder / _LOCK)
        return connection

    def prepare(self, commands: Iterable[Mapping[str, Any]]) -> None:
        """Make zygotes for commands like these where there are none; they get warm by and by.

        One that cannot be made is logged: the next launch starts in the ordinary way, too.
        """
        beginnings = [env for env in map(_beginning_of, commands) if env is not None]
        for folder, env in {self._folder_of(env): env for env in beginnings}.items():
            try:
                if not _is_taken(folder):
                    self._make_room()
                    self._begin(folder, env)
            except (OSError, subprocess.TimeoutExpired) as problem:
                note = {"action": "zygote_prepare"}
                logger.warning("No zygote could be made: %s", problem, extra=note)

    def _make_room(self) -> None:
        """Remove what dead ones left; where one more were too many, end who was asked longest ago.

        Another process may just make one where a dead one was: that one ends, and is made later.
        """
        locks = sorted(self.folder.glob(f"*/{_LOCK}"), key=lambda lock: lock.stat().st_mtime_ns)
        folders = [lock.parent for lock in locks]
        taken = [folder for folder in folders if _is_taken(folder)]
        for folder in set(folders) - set(taken):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in taken[: max(len(taken) + 1 - self.most, 0)]:
            _end(folder)

    def _begin(self, folder: Path, env: Mapping[str, str]) -> None:
        make_private(folder)
        files = (folder / _LOCK, folder / _SOCKET)
        times = (f"{self.after_seconds:g}", f"{self.idle_seconds:g}")
        mark = {records.RECORD_VARIABLE: str(self.marks / folder.name)}
        with (folder / "log").open("wb") as output:
            subprocess.run(  # noqa: S603 - our own interpreter and module; it detaches itself
                (sys.executable, "-m", _PROGRAM, *files, *times, *self.modules, _ROOM),
                cwd="/",
                env={**env, **mark, "CONCERTINA_ROOM": _ROOM},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                check=False,
                timeout=_BEGIN_SECONDS,
            )

    def _folder_of(self, beginning: Mapping[str, str]) -> Path:
        code = [sys.executable, self.modules, self.version]
        same = json.dumps([code, beginning], sort_keys=True)
        return self.folder / hashlib.sha256(same.encode()).hexdigest()[:16]


def _beginning_of(command: Mapping[str, Any]) -> dict[str, str] | None:
    """The environment of a zygote for this command; None: it cannot start warm.

    A zygote runs as the service, and only the forks it makes become users of teams: then nothing
    that a team chose is in its environment.
    """
    if not can_start_warm(command["arguments"], command["env"]):
        return None
    if command.get("user") is None:
        return read_at_import(command["env"])
    return read_at_import_by_all(command["env"], os.environ)


def version_of(package: Path, installed: Iterable[Path]) -> str:
    """Changes whenever a file of the package does, or what is installed in the other folders."""
    files = (*package.rglob("*.py"), *installed)  # installing renames an entry of such a folder
    return json.dumps([path.stat().st_mtime_ns for path in sorted(files)])


def _is_taken(folder: Path) -> bool:
    """True if a zygote is there, warm or not."""
    try:
        with (folder / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _end(folder: Path) -> None:
    """Nothing that it has started needs it any longer."""
    with contextlib.suppress(OSError, ValueError):  # it has ended, or only just begins
        descriptor = os.pidfd_open(int((folder / _LOCK).read_text()))
        try:
            if _is_taken(folder):  # so the pid is still that of the zygote
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def _connect(folder: Path) -> socket.socket | None:
    """Connect through /proc, because a socket's address may have no more than 107 bytes."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_ASK_SECONDS)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            connection.connect(f"/proc/self/fd/{descriptor}/{_SOCKET}")
        finally:
            os.close(descriptor)
    except OSError:
        connection.close()
        return None
    return connection
