"""Where does a job resume when nobody is left? At its newest complete checkpoint.

A checkpoint is written under a temporary name, synced to disk, and only then given its name. It
ends with a checksum: one that is torn or rotten is skipped for the one before it and given another
name, so that it does not pass for the newest when old ones are removed; the job's log says why. A
disk that is full costs the checkpoint, never the training.

Two may write into one folder: workers of an attempt that is over may still be ending, or train on
upon a node that nobody reaches, for a job that was started again elsewhere. So names say of which
start of the job a checkpoint is, and one of an earlier start is always older, whatever its step:
it is neither loaded before those of its successors nor takes their place. A database that was
restored from a backup counts starts a second time; what it counts is of a new *epoch*, and all of
an earlier epoch is older. A file that somebody may be writing is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from concertina_worker.environment import CheckpointRules
from concertina_worker.process import background
from concertina_worker.state.checkpoints import former_names
from concertina_worker.state.training_state import CheckpointMismatchError

_MAGIC: Final = b"concertina checkpoint 1\n"
_FOOTER_BYTES: Final = len(_MAGIC) + hashlib.sha256().digest_size
_NAME: Final = re.compile(
    r"step-(?P<step>\d+)(\.epoch-(?P<epoch>\d+))?(\.start-(?P<start>\d+))?\.(pt|broken)"
)
LEFTOVER_SECONDS: Final = 600.0  # guessed: nobody writes, and then does not for so long

_log = logging.getLogger(__name__)


def write(
    folder: Path,
    step: int,
    content: dict[str, Any],
    *,
    keep_last: int,
    start: int = 0,
    epoch: int = 0,
) -> Path:
    """Blocks until the checkpoint would survive a power cut; then removes the oldest ones."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".step-{step:012d}.{secrets.token_hex(4)}.tmp"
    try:
        _write_whole(temporary, content)
        path = temporary.replace(_path_of(step, folder, start, epoch))
    finally:
        temporary.unlink(missing_ok=True)  # or a full disk would stay full
    _sync_folder(folder)
    _remove_old(folder, keep_last, written=path)
    return path


def _path_of(step: int, folder: Path, start: int, epoch: int) -> Path:
    of_epoch = f".epoch-{epoch}" if epoch else ""
    of_start = f".start-{start}" if start else ""
    return folder / f"step-{step:012d}{of_epoch}{of_start}.pt"


def _oldest_first(folder: Path, kind: str) -> list[Path]:
    """Sort checkpoints by epoch, then by start, then by step."""
    found = ((_NAME.fullmatch(path.name), path) for path in folder.glob(f"step-*.{kind}"))
    named = (
        (int(m["epoch"] or 0), int(m["start"] or 0), int(m["step"]), path) for m, path in found if m
    )
    return [path for _, _, _, path in sorted(named)]


def _write_whole(path: Path, content: dict[str, Any]) -> None:
    with path.open("wb") as file:
        hashing = _HashingFile(file)
        try:
            torch.save(content, hashing)  # type: ignore[arg-type]
        except RuntimeError as error:  # what PyTorch makes of a file that cannot be written
            raise hashing.problem or error from None
        file.write(_MAGIC + hashing.digest())
        file.flush()
        os.fsync(file.fileno())


def load_newest(folder: Path) -> dict[str, Any] | None:
    """The newest checkpoint that is whole; None when there is none."""
    for path in reversed(_oldest_first(folder, "pt")):
        try:
            return _read(path)
        except (OSError, BrokenCheckpointError) as error:
            if isinstance(error, BrokenCheckpointError):
                _set_aside(path)
            _log.warning(
                "The checkpoint %s is skipped for the one before: %s action=skip", path, error
            )
    return None


class CheckpointWriter:
    """Writes a checkpoint every so often, in the background."""

    def __init__(self, rules: CheckpointRules, on_written: Callable[[int], None]) -> None:
        """`on_written(step)` is called, from a thread, when a checkpoint is complete."""
        self._rules = rules
        self._on_written = on_written
        self._newest_at = time.monotonic()
        self._newest_step = -1
        self._thread: threading.Thread | None = None

    def load_newest(self) -> dict[str, Any] | None:
        return load_newest(self._rules.folder)

    def has(self, step: int) -> bool:
        """Somebody has written it, be it another worker."""
        rules = self._rules
        return _path_of(step, rules.folder, rules.start, rules.epoch).exists()

    @property
    def is_due(self) -> bool:
        is_long_ago = time.monotonic() - self._newest_at >= self._rules.interval_seconds
        return is_long_ago and not self.is_busy

    @property
    def is_busy(self) -> bool:
        """One is being written."""
        return self._thread is not None and self._thread.is_alive()

    def write_in_background(self, step: int, content: dict[str, Any]) -> None:
        self.wait()
        self._newest_at = time.monotonic()
        self._thread = background.start("concertina_checkpoint", self._write, step, content)

    def write_now(self, step: int, content: dict[str, Any]) -> None:
        """Return when it is on disk."""
        self.wait()
        if step != self._newest_step:
            self._write(step, content)

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _write(self, step: int, content: dict[str, Any]) -> None:
        try:
            rules = self._rules
            write(
                rules.folder,
                step,
                content,
                keep_last=rules.keep_last,
                start=rules.start,
                epoch=rules.epoch,
            )
        except (OSError, RuntimeError) as error:
            _log.warning(
                "The checkpoint of step %d could not be written, the training goes on without it: "
                "%s action=go_on",
                step,
                error,
            )
            return
        self._newest_step = step
        self._on_written(step)


class _HashingFile(io.RawIOBase):
    """Passes everything on to a file and keeps its checksum."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._hash = hashlib.sha256()
        self.problem: OSError | None = None  # why it cannot be written to

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        try:
            return self._file.write(data)
        except OSError as error:
            self.problem = error
            raise

    def digest(self) -> bytes:
        return self._hash.digest()


def _read(path: Path) -> dict[str, Any]:
    """Raises OSError, BrokenCheckpointError, or CheckpointMismatchError when a class is gone."""
    data = path.read_bytes()
    body, footer = memoryview(data)[:-_FOOTER_BYTES], data[-_FOOTER_BYTES:]
    if not footer.startswith(_MAGIC):
        raise BrokenCheckpointError("it was not written to its end")
    if footer != _MAGIC + hashlib.sha256(body).digest():
        raise BrokenCheckpointError("its checksum is wrong: the disk has changed it")
    # Extras may be objects of any class; the job itself wrote the file.
    try:
        content: dict[str, Any] = torch.load(
            io.BytesIO(body), weights_only=False, map_location="cpu", pickle_module=former_names
        )
    except (AttributeError, ImportError) as error:
        named = _NAME.fullmatch(path.name)
        step = int(named["step"]) if named else 0
        raise CheckpointMismatchError(step=step, detail=str(error)) from error
    return content


def _set_aside(path: Path) -> None:
    with contextlib.suppress(OSError):  # a folder that can only be read
        path.replace(path.with_suffix(".broken"))


def _remove_old(folder: Path, keep_last: int, *, written: Path) -> None:
    old = [path for kind in ("pt", "broken") for path in _all_but_last(folder, kind, keep_last)]
    for path in old:
        if path != written:
            path.unlink(missing_ok=True)
    for leftover in folder.glob(".step-*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # whoever wrote it has finished
            if time.time() - leftover.stat().st_mtime > LEFTOVER_SECONDS:
                leftover.unlink()


def _all_but_last(folder: Path, kind: str, count: int) -> list[Path]:
    return _oldest_first(folder, kind)[:-count]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class BrokenCheckpointError(Exception):
    """A file that is no whole checkpoint."""
