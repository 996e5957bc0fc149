"""Which images did a test of this run make already, for a Docker daemon that has yet to start?

The stack in containers needs the worker image as much as the one in production does, and to make
it takes a minute. Whoever makes images in a daemon of its own puts them here, and the next daemon
begins with them. Processes that pytest runs side by side share the shelf, the folder of the first.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

VARIABLE: Final = "TESTS_IMAGE_SHELF"


def put(data: Path) -> None:
    """What is in this folder of a daemon's, unless something is there already."""
    shelf = _shelf()
    if not shelf.exists():
        coming = shelf.with_name(f"{shelf.name}-of-{os.getpid()}")
        link(data, coming)
        coming.rename(shelf)


def take(data: Path) -> None:
    """Into the folder of a daemon that has not started yet."""
    if _shelf().exists():
        link(_shelf(), data)


def link(source: Path, target: Path) -> None:
    """Layers are never changed once they are there, so the same files will do: seconds saved.

    A running daemon mounts its folder upon itself, and no link leads out of a mount.
    """
    target.mkdir(parents=True, mode=0o700)
    copy = """
        umount --lazy "$1" 2>/dev/null
        cp --archive --link "$1/image" "$1/overlay2" "$2" && rm -rf "$2"/image/*/layerdb/mounts
    """
    subprocess.run(("unshare", "--mount", "sh", "-c", copy, "sh", source, target), check=True)


def _shelf() -> Path:
    return Path(os.environ[VARIABLE])
