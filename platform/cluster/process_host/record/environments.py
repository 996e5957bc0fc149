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

from cluster.process_host.record import identity

_LOOK_SECONDS: Final = 0.001
PATIENCE_SECONDS: Final = 1.0
_STATE, _FLAGS, _ENV_END = 0, 6, 48  # see `identity.stat_fields`
_HAS_NO_PROGRAM: Final = 0x200000 | 0x4  # of the kernel itself, or about to end


def raw(pid: int, *, give_up_at: float | None = None) -> bytes:
    """The environment of its program as the kernel tells it: `NAME=value`, each ended by a zero.

    At `give_up_at`, of the monotonic clock and by default in a second, what is there is taken.

    Raises:
        OSError: the process is gone, or we may not look at it.
    """
    folder = Path(f"/proc/{pid}")
    last_look_at = time.monotonic() + PATIENCE_SECONDS if give_up_at is None else give_up_at
    while not (found := (folder / "environ").read_bytes()):
        if not _is_starting_its_program(pid) or time.monotonic() > last_look_at:
            return (folder / "environ").read_bytes()
        time.sleep(_LOOK_SECONDS)
    return found


def parsed(data: bytes) -> dict[str, str]:
    """The variables in what `raw` returned."""
    items = filter(None, data.decode(errors="replace").split("\0"))
    pairs = (item.partition("=") for item in items)
    return {name: value for name, _, value in pairs}


def _is_starting_its_program(pid: int) -> bool:
    fields = identity.stat_fields(pid)
    if fields is None or fields[_STATE] in "ZXx" or int(fields[_FLAGS]) & _HAS_NO_PROGRAM:
        return False
    return int(fields[_ENV_END]) == 0
