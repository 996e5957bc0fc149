"""Which versions go, so that another fits into the cache? Those that nobody used for longest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

Key = tuple[int, str]  # a source's number, and a version of it
NOWHERE: Final[Key] = (0, "")  # of what is not in the cache, and never is


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedVersion:
    """A version that takes room."""

    key: Key
    bytes: int
    used_at: datetime
    is_used: bool  # by a job that lives


def room_for(needed: int, held: Iterable[CachedVersion], most: int) -> list[Key] | None:
    """Return what goes, longest unused first; None: what live jobs use leaves too little room.

    Files that two versions share count for both, so that nothing is ever over the bound.
    """
    everything = list(held)
    free = most - sum(one.bytes for one in everything)
    going = []
    for one in sorted(everything, key=lambda one: one.used_at):
        if free >= needed:
            break
        if not one.is_used:
            going.append(one.key)
            free += one.bytes
    return going if free >= needed else None
