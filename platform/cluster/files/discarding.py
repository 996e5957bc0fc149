"""How does a folder of any size go away at once? It is moved aside, and removed in the background.

What a dying service process left of it goes with the next one. Jobs made what is in there, of any
depth and closed to everybody, so nothing here follows links, recurses, or keeps folders open: the
folders in a folder are moved up, until none has any.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import threading
from pathlib import Path
from typing import Final

_BATCH: Final = 1000  # of the entries of a folder, read before they are removed

_removing: Final = threading.Lock()  # one at a time
_awaited: Final[set[Path]] = set()  # folders that a thread will look into when it is its turn

_log: Final = logging.getLogger(__name__)


def discard(folder: Path, *, aside: Path) -> None:
    """Nothing is there any more when this returns; `aside` is on the same file system."""
    aside.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        _move(folder, aside)
    except FileNotFoundError:
        return
    if aside not in _awaited:
        _awaited.add(aside)
        threading.Thread(target=_empty, args=(aside,), name="discard", daemon=True).start()


def _empty(aside: Path) -> None:
    failed: set[Path] = set()
    with _removing, contextlib.suppress(FileNotFoundError):
        _awaited.discard(aside)  # whoever comes from now on may be missed below
        while rest := [path for path in aside.iterdir() if path not in failed]:
            for path in rest:
                try:
                    _remove(path, aside)
                except OSError as problem:  # tried again with the next one
                    failed.add(path)
                    extra = {"action": "discard", "path": str(path)}
                    _log.warning("A folder cannot be removed: %s", problem, extra=extra)


def _remove(folder: Path, aside: Path) -> None:
    """Another service process may be at it, too."""
    with contextlib.suppress(FileNotFoundError):
        _open_to_us(folder)
        while batch := _some_of(folder):
            for path in batch:
                with contextlib.suppress(FileNotFoundError):
                    if path.is_dir() and not path.is_symlink():
                        _move(path, aside)
                    else:
                        path.unlink()
        folder.rmdir()


def _some_of(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(entry) for entry in itertools.islice(entries, _BATCH)]


def _move(folder: Path, aside: Path) -> None:
    """Only who may write to a folder can give it another parent."""
    _open_to_us(folder)
    folder.rename(aside / os.urandom(16).hex())


def _open_to_us(folder: Path) -> None:
    """A job may have closed it to everybody; a link in its place is left as it is."""
    descriptor = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        Path(f"/proc/self/fd/{descriptor}").chmod(0o700)
    finally:
        os.close(descriptor)
