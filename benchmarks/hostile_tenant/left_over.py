"""Can attackers take only what the processors have left over, as if they had machines of their own?

Niceness bounds how much they take, not how soon they give it back: whoever is woken up waits until
their time slice is over, some milliseconds each time, and a tick or an answer is woken up hundreds
of times. A control group that is idle gives back at once. Where root may make none, they are nice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))  # of version 1, of version 2


@contextmanager
def left_over() -> Iterator[Path | None]:
    """A file that takes the ids of processes which shall give way; None: this machine has none."""
    group = next(filter(None, map(_made, _ROOTS)), None)
    if group is None:
        yield None
        return
    try:
        yield group / "cgroup.procs"
    finally:
        with suppress(OSError):  # processes are left in it
            group.rmdir()


def _made(root: Path) -> Path | None:
    group = root / f"concertina-hostile-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        (group / "cpu.idle").write_text("1")
    except OSError:
        group.rmdir()
        return None
    return group


def running(word: bytes) -> Iterator[int]:
    """The processes in whose command lines it stands as a word."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                if word in (folder / "cmdline").read_bytes().split(b"\0"):
                    yield int(folder.name)
