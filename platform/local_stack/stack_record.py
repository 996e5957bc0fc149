"""What is up at this moment? The record the supervisor keeps for everybody else to read.

Standard library only, so that `./dev status` answers before anything is installed.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from local_stack.checkout import Checkout

GRABS = 3
GRAB_SECONDS = 0.02


class AlreadyUp(Exception):
    """Another supervisor of this checkout runs."""


class StackPhase(StrEnum):
    """Where the stack stands."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """One supervised process. A pid alone could mean another process by now."""

    name: str
    pid: int
    started_at: float
    restarts: int
    last_exit: str = ""  # how it ended before its last restart


@dataclass(frozen=True, slots=True, kw_only=True)
class StackRecord:
    """One run of the stack."""

    phase: StackPhase
    doing: str  # the step of the start it is at, for people
    supervisor_pid: int
    started_at: float
    url: str
    docker_url: str = ""  # where its jobs' containers run, or were left; empty: it has none
    why_jobs_are_trusted: str = ""  # with all that the service may do; empty: they are not
    processes: tuple[ProcessRecord, ...] = ()


def path(checkout: Checkout) -> Path:
    return checkout.state_dir / "stack.json"


def write(checkout: Checkout, record: StackRecord) -> None:
    """Replace the record in one step: a reader sees the old one or the new one."""
    write_private(path(checkout), json.dumps(asdict(record), indent=2))


def read(checkout: Checkout) -> StackRecord | None:
    """The last record, whether its supervisor still runs or not; None: there never was one."""
    try:
        fields = json.loads(path(checkout).read_text())
        processes = tuple(ProcessRecord(**process) for process in fields.pop("processes"))
        return StackRecord(**{**fields, "phase": StackPhase(fields["phase"])}, processes=processes)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def current(checkout: Checkout) -> StackRecord | None:
    """The record of the supervisor that runs now; None when none does."""
    return read(checkout) if is_up(checkout) else None


def is_up(checkout: Checkout) -> bool:
    """True if a supervisor holds the checkout's lock. The kernel drops it with the process."""
    try:
        with exclusive(checkout):
            return False
    except AlreadyUp:
        return True
    except FileNotFoundError:
        return False


@contextmanager
def exclusive(checkout: Checkout) -> Iterator[None]:
    """Be the only supervisor of this checkout.

    Raises:
        AlreadyUp: another one is.
        FileNotFoundError: the checkout has no folders yet.
    """
    lock = os.open(checkout.state_dir / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not any(_grab(lock) for _ in range(GRABS)):
            raise AlreadyUp(AlreadyUp.__doc__)
        yield
    finally:
        os.close(lock)


def _grab(lock: int) -> bool:
    """Try to lock; a failure takes a moment, in which whoever only had a look lets go."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(GRAB_SECONDS)
        return False
    return True


def write_private(file: Path, text: str) -> None:
    """Write a file for our eyes only, in one step."""
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            stream.write(text)
        part.replace(file)
    except OSError:  # a full disk, which must not fill with these
        part.unlink(missing_ok=True)
        raise
