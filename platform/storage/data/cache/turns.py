"""Which fetches have a place, where there are fewer places than fetches? A pure rule.

A place goes to the owner who has fewest, of equals to whoever waits longest. A fetch that has had
its turn gives its place to an owner who has less. So no stores of one team, however slow, keep
other teams from theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from storage.data.cache.room import Key

TURN: Final = timedelta(minutes=10)  # guessed; what was under way goes on with the pieces it has


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClaim:
    """A place that is held, or waited for."""

    owner: str
    since: datetime


def next_ones(
    running: Mapping[Key, TurnClaim], waiting: Mapping[Key, TurnClaim], places: int
) -> Collection[Key]:
    """Return those that may begin now."""
    held = _held(running)
    in_order = sorted(waiting, key=lambda key: (held[waiting[key].owner], waiting[key].since))
    return in_order[: max(places - len(running), 0)]


def who_gives_way(running: Mapping[Key, TurnClaim], owner: str, now: datetime) -> Key | None:
    """Return what ends so that one of this owner's may begin; None: nothing has to."""
    held = _held(running)
    over = [
        (claim.since, key)
        for key, claim in running.items()
        if claim.owner != owner
        and now - claim.since >= TURN
        and (not held[owner] or held[claim.owner] > held[owner] + 1)
    ]
    return min(over)[1] if over else None


def _held(running: Mapping[Key, TurnClaim]) -> Counter[str]:
    return Counter(claim.owner for claim in running.values())
