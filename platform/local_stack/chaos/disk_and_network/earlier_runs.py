"""Where does a run keep its things, and what did one leave that was killed?

Each has a folder of its own below the one for temporary files, with a lock that the kernel drops
when the run ends, however it ends. A folder whose lock nobody holds is of no use to anybody.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
from cluster.process_host.record import environments
from cluster.process_host.record.records import RECORD_VARIABLE

PREFIX: Final = "concertina-chaos-"
LOCK: Final = "run.lock"
MARKS: Final = ("CONCERTINA_HOME", "CONCERTINA_STATE", RECORD_VARIABLE)
PATIENCE_SECONDS: Final = 30.0  # for a stack that stops in order, since its run is gone


@contextmanager
def folder(*, say: Callable[[str], None]) -> Iterator[Path]:
    """A new folder, removed at the end; before, what earlier runs left is ended and removed."""
    clean(Path(tempfile.gettempdir()), say=say)
    made = Path(tempfile.mkdtemp(prefix=PREFIX))
    made.chmod(0o755)
    lock = os.open(made / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def clean(parent: Path, *, say: Callable[[str], None]) -> None:
    """End and remove what runs of ours that were killed have left below `parent`."""
    for left in sorted(parent.glob(f"{PREFIX}*")):
        with suppress(OSError):  # another user's, of a run that goes on, or gone by now
            _clean(left, say)


def _clean(left: Path, say: Callable[[str], None]) -> None:
    lock = os.open(left / LOCK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        say(f"  Removing what a run left that was killed: {left}")
        _end([process for process in psutil.process_iter() if _is_of(process, left)])
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(lock)


def _end(found: Sequence[psutil.Process]) -> None:
    is_stopping = any(_is_supervisor(process) for process in found)
    _, alive = psutil.wait_procs(found, timeout=PATIENCE_SECONDS if is_stopping else 0)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=PATIENCE_SECONDS)


def _is_supervisor(process: psutil.Process) -> bool:
    try:
        return "supervise" in process.cmdline()
    except psutil.Error:
        return False


def _is_of(process: psutil.Process, left: Path) -> bool:
    try:
        environ = environments.parsed(environments.raw(process.pid))
    except OSError:
        return False
    return any(environ.get(mark, "").startswith(f"{left}/") for mark in MARKS)
