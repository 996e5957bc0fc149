"""What does the machine show of a process that was forked, and then became something else?

`ps` and `/proc/<pid>/environ` show the memory in which the kernel once put arguments and
environment. Writing over it shows the truth instead. There is as much room as there was at the
start: see `ROOM_VARIABLE`. Linux only, standard library only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOM_VARIABLE: Final = "CONCERTINA_ROOM"  # of any value: makes room for a longer environment
OURS: Final = "CONCERTINA_"  # shown first: what a process is found by
_ARGUMENTS: Final = (45, 46)  # begin and end, in /proc/self/stat behind the name in parentheses
_ENVIRONMENT: Final = (47, 48)


def show(arguments: Sequence[str], env: Mapping[str, str]) -> None:
    """Show these. What does not fit is cut off; nobody may still refer to the old environment."""
    pairs = sorted(env.items(), key=lambda pair: not pair[0].startswith(OURS))
    _write(_ARGUMENTS, arguments)
    _write(_ENVIRONMENT, [f"{name}={value}" for name, value in pairs])


def _write(area: tuple[int, int], entries: Sequence[str]) -> None:
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = (int(fields[index]) for index in area)
    content = b"".join(entry.encode(errors="surrogateescape") + b"\0" for entry in entries)
    ctypes.memmove(begin, content[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
