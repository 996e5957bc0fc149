"""What does a process carry in its environment, even while the kernel starts its program?

A process that executes a program has given its old memory back before the arguments of the new
one are written, and shows an empty environment in between: milliseconds on busy processors, and
again and again if it wishes. Whoever looks for the processes of a record waits for that moment to
pass, or it would miss one that holds a GPU.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

_LOOK_SECONDS: Final = 0.001
_PATIENCE_SECONDS: Final = 1.0
_STATE, _FLAGS, _ENV_END = 0, 6, 48  # fields of /proc/<pid>/stat behind the name in parentheses
_HAS_NO_PROGRAM: Final = 0x200000 | 0x4  # of the kernel itself, or about to end


def raw(pid: int) -> bytes:
    """The environment of its program as the kernel tells it: `NAME=value`, each ended by a zero.

    Raises:
        OSError: the process is gone, or we may not look at it.
    """
    folder = Path(f"/proc/{pid}")
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while not (found := (folder / "environ").read_bytes()):
        if not _is_starting_its_program(folder) or time.monotonic() > give_up_at:
            return (folder / "environ").read_bytes()
        time.sleep(_LOOK_SECONDS)
    return found


def parsed(raw: bytes) -> dict[str, str]:
    """The variables in what `raw` returned."""
    items = filter(None, raw.decode(errors="replace").split("\0"))
    pairs = (item.partition("=") for item in items)
    return {name: value for name, _, value in pairs}


def _is_starting_its_program(folder: Path) -> bool:
    fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    if fields[_STATE] in "ZXx" or int(fields[_FLAGS]) & _HAS_NO_PROGRAM:
        return False
    return int(fields[_ENV_END]) == 0
