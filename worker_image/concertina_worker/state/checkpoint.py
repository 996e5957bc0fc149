"""Where does a job resume when nobody is left? At its newest complete checkpoint.

A checkpoint is written under a temporary name, synced to disk, and only then given its name. It
ends with a checksum: one that is torn or rotten is skipped for the one before it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from concertina_worker.environment import CheckpointRules

_MAGIC: Final = b"concertina checkpoint 1\n"
_FOOTER_BYTES: Final = len(_MAGIC) + hashlib.sha256().digest_size

_log = logging.getLogger(__name__)


def write(folder: Path, step: int, content: dict[str, Any], *, keep_last: int) -> Path:
    """Blocks until the checkpoint would survive a power cut; then removes the oldest ones."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".step-{step:012d}.{os.getpid()}.tmp"
    with temporary.open("wb") as file:
        hashing = _HashingFile(file)
        torch.save(content, hashing)  # type: ignore[arg-type]
        file.write(_MAGIC + hashing.digest())
        file.flush()
        os.fsync(file.fileno())
    path = folder / f"step-{step:012d}.pt"
    temporary.replace(path)
    _sync_folder(folder)
    _remove_old(folder, keep_last)
    return path


def load_newest(folder: Path) -> dict[str, Any] | None:
    """The newest checkpoint that is whole; None when there is none."""
    for path in sorted(folder.glob("step-*.pt"), reverse=True):
        content = _read(path)
        if content is not None:
            return content
        _log.warning("Skipping a checkpoint that is not whole action=skip path=%s", path)
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

    @property
    def is_due(self) -> bool:
        is_busy = self._thread is not None and self._thread.is_alive()
        return not is_busy and time.monotonic() - self._newest_at >= self._rules.interval_seconds

    def write_in_background(self, step: int, content: dict[str, Any]) -> None:
        self.wait()
        self._newest_at = time.monotonic()
        self._thread = threading.Thread(
            target=self._write, args=(step, content), name="concertina_checkpoint", daemon=True
        )
        self._thread.start()

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
            write(self._rules.folder, step, content, keep_last=self._rules.keep_last)
        except OSError as error:  # a full disk must not end the training
            _log.warning("The checkpoint cannot be written: %s action=go_on step=%d", error, step)
            return
        self._newest_step = step
        self._on_written(step)


class _HashingFile(io.RawIOBase):
    """Passes everything on to a file and keeps its checksum."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        return self._file.write(data)

    def digest(self) -> bytes:
        return self._hash.digest()


def _read(path: Path) -> dict[str, Any] | None:
    data = path.read_bytes()
    body, footer = data[:-_FOOTER_BYTES], data[-_FOOTER_BYTES:]
    if footer != _MAGIC + hashlib.sha256(body).digest():
        return None
    # Extras may be objects of any class; the job itself wrote the file.
    content: dict[str, Any] = torch.load(io.BytesIO(body), weights_only=False, map_location="cpu")
    return content


def _remove_old(folder: Path, keep_last: int) -> None:
    for path in sorted(folder.glob("step-*.pt"))[:-keep_last]:
        path.unlink(missing_ok=True)
    for leftover in folder.glob(".step-*.tmp"):
        leftover.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
