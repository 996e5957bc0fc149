"""How does a disk become full, or slow, for one stack alone? Its state lies on one of its own.

That is a file with a file system in it. To be full is to have a file in it that takes all room;
to be slow is to be frozen, so that whoever writes hangs until it goes on. What jobs write down for
chaos lies elsewhere.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_stack.chaos.disk_and_network import hanging

SIZE_BYTES: Final = 2 * 2**30  # of which only what is written takes room
FILLING: Final = "taken by chaos"
LARGEST_BYTES: Final = 2**28  # taken at once
SMALLEST_BYTES: Final = 2**12


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[PrivateDisk]:
    """A new file system in `image`, seen at `folder` until the end.

    Raises:
        OSError: it cannot be made or mounted; with what `mkfs` or `mount` says.
    """
    with image.open("wb") as file:
        file.truncate(SIZE_BYTES)
    _run("mkfs.ext4", "-q", "-m", "0", str(image))
    folder.mkdir(mode=0o700)
    _run("mount", "-o", "loop", str(image), str(folder))
    folder.chmod(0o700)
    try:
        yield PrivateDisk(folder=folder)
    finally:
        _run("umount", "--lazy", str(folder))  # it goes when the last that uses it has ended
        image.unlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateDisk:
    """The file system that is seen at a folder."""

    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FullDisk:
    """A disk to which nothing more can be written."""

    disk: PrivateDisk

    def begin(self, _seconds: float) -> None:
        self.go_on()

    def go_on(self) -> None:
        """Take what others have given back meanwhile, too."""
        descriptor = os.open(self._filling, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            take_all(descriptor)
        finally:
            os.close(descriptor)

    def end(self) -> None:
        self._filling.unlink(missing_ok=True)

    @property
    def _filling(self) -> Path:
        return self.disk.folder / FILLING


class SlowDisk:
    """Makes whoever writes to it wait."""

    def __init__(self, disk: PrivateDisk) -> None:
        self._disk = disk
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, seconds: float) -> None:
        """Hang until this time is up, even if nobody calls `end`: we might hang there ourselves.

        Raises:
            OSError: it did not hang.
        """
        command = (sys.executable, "-E", "-S", hanging.__file__, str(self._disk.folder))
        self._process = subprocess.Popen(
            (*command, str(seconds)),
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is not for it
        )
        if self._process.stdout is None or not self._process.stdout.readline():
            raise OSError(errno.EIO, f"{self._disk.folder} cannot be frozen")

    def go_on(self) -> None:
        """It does by itself."""

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate(b"go on\n")
            self._process = None
            _make_go_on(self._disk.folder)


def _make_go_on(folder: Path) -> None:
    """Make a file system go on, in case that whoever made it hang was killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        hanging.thaw(descriptor)
    os.close(descriptor)


def take_all(descriptor: int) -> None:
    """Make a file as large as its file system has room for."""
    size = os.fstat(descriptor).st_size
    step = LARGEST_BYTES
    while step >= SMALLEST_BYTES:
        try:
            os.posix_fallocate(descriptor, size, step)
            size += step
        except OSError as trouble:
            if trouble.errno != errno.ENOSPC:
                raise
            step //= 2


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise OSError(ran.returncode, f"`{' '.join(command)}`: {ran.stderr.strip()}")
