"""What did a run leave that was killed itself? Namespaces, a bridge, folders: all named by its pid.

Its daemons end with it, each with its containers; what does not, is ended here.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from local_stack.chaos.containers import cables
from local_stack.containers import mounts, own_cgroup

NAMESPACES: Final = Path("/run/netns")
INTERFACES: Final = Path("/sys/class/net")
OURS: Final = re.compile(r"cc(\d+)(?:-.*)?")


def name_of(pid: int) -> str:
    """Return what a run calls its bridge, and how all else that it makes begins."""
    return f"cc{pid}"


def clean(keep_in: Path, *, say: Callable[[str], None]) -> None:
    """Remove what runs have left that are over; call it before the first of this one is made."""
    folders = [Path(tempfile.gettempdir()), keep_in]
    places = [NAMESPACES, INTERFACES, own_cgroup.CONTROLLERS / "cpu", *folders]
    names = [path.name for place in places if place.is_dir() for path in place.iterdir()]
    for pid in sorted(pids_in(names)):
        if not psutil.pid_exists(pid):
            say(f"  Removing what a run left that was killed: {name_of(pid)}")
            _clean(name_of(pid), folders)


def pids_in(names: Iterable[str]) -> set[int]:
    """The process ids of the runs that are known by these names."""
    return {int(found[1]) for name in names if (found := OURS.fullmatch(name))}


def _clean(name: str, folders: Iterable[Path]) -> None:
    left = [path for folder in folders for path in folder.glob(f"{name}-*")]
    for process in _of([str(path) for path in left]):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for path in left:
        mounts.unmount_below(path)
        shutil.rmtree(path, ignore_errors=True)
    cables.remove(name, [path.name for path in NAMESPACES.glob(f"{name}-*")])


def _of(folders: list[str]) -> Iterator[psutil.Process]:
    """Daemons and shims, with what runs below them."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(word.startswith(folder) for word in words for folder in folders):
            with suppress(psutil.NoSuchProcess):
                yield from process.children(recursive=True)
            yield process
