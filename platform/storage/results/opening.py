"""How is something opened that a job may replace meanwhile? Step by step, and never by a link.

Each folder is opened by the descriptor of the one above it. What is neither a file nor a folder is
not there, nor is what belongs to somebody else than the folder of results: a second name that a job
gave to a file of others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from storage.errors import ResultUnknown
from storage.results.folders import Folder, parts_of

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LATEST: Final = 253_402_300_799.0  # the end of the year 9999: no calendar goes further
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe never waits


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """A file as it was when it was opened; whoever holds this closes it."""

    descriptor: int
    size: int
    modified_at: float  # seconds since 1970
    etag: str  # another for another content

    def close(self) -> None:
        os.close(self.descriptor)


@contextmanager
def folder(results: Folder, path: str = "") -> Iterator[int]:
    """Open a folder below that of the results, or this itself; gives a descriptor.

    Raises:
        ResultUnknown: there is none.
    """
    descriptor = _descend(results, parts_of(path))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def file(results: Folder, path: str) -> OpenFile:
    """Open a file.

    Raises:
        ResultUnknown: there is none that may be read.
    """
    *above, name = parts_of(path) or ("",)
    with folder(results, "/".join(above)) as parent:
        return file_in(parent, name)


def file_in(parent: int, name: str) -> OpenFile:
    """Open a file of a folder.

    Raises:
        ResultUnknown: there is none that may be read.
    """
    owner = os.fstat(parent).st_uid
    try:
        descriptor = os.open(name, _FILE, dir_fd=parent)
    except OSError as problem:
        raise ResultUnknown from problem
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != owner:
        os.close(descriptor)
        raise ResultUnknown
    return OpenFile(
        descriptor=descriptor,
        size=found.st_size,
        modified_at=moment(found.st_mtime),
        etag=f'"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"',
    )


def moment(seconds: float) -> float:
    """Return the nearest moment that a date can name: jobs set the times of files as they like."""
    return min(max(seconds, 0.0), _LATEST)


def folder_in(parent: int, name: str) -> int:
    """Open a folder of a folder.

    Raises:
        ResultUnknown: it is none.
    """
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError as problem:
        raise ResultUnknown from problem


def _descend(results: Folder, parts: Sequence[str]) -> int:
    try:
        descriptor = os.open(results.jobs_dir, _FOLDER)
    except OSError as problem:
        raise ResultUnknown from problem
    for part in (*results.parts, *parts):
        try:
            below = folder_in(descriptor, part)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor
