"""How does a file get onto the disk whole? Under a temporary name, synced, with a checksum."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO


class BrokenCheckpointError(Exception):
    """A file that is no whole checkpoint."""


class HashingFile(io.RawIOBase):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """What is on the disk now."""

    bytes: int
    digest: str  # SHA-256, in hexadecimal


@contextmanager
def temporary(folder: Path, stem: str) -> Iterator[Path]:
    """Give a name for a file, which is removed unless it has got its own by then."""
    path = folder / f".{stem}.{secrets.token_hex(4)}.tmp"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)  # or a full disk would stay full


def write_whole(path: Path, write: Callable[[HashingFile], None]) -> WrittenFile:
    """Return when the file would survive a power cut, but for its name."""
    with path.open("wb") as file:
        hashing = HashingFile(file)
        try:
            write(hashing)
        except RuntimeError as error:  # what PyTorch makes of a file that cannot be written
            raise hashing.problem or error from None
        file.flush()
        os.fsync(file.fileno())
        return WrittenFile(bytes=file.tell(), digest=hashing.digest().hex())


def sync_folder(folder: Path) -> None:
    """Return when the names in it would survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
