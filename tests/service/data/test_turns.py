"""Which fetches have a place, and which give theirs to others?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from storage.data.cache.turns import TURN, TurnClaim, next_ones, who_gives_way

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def claims(owners: str, *, minutes: float = 0) -> dict[tuple[int, str], TurnClaim]:
    """One of each owner, numbered in order; each is a second younger than the one before."""
    begin = NOON + timedelta(minutes=minutes)
    return {
        (number, owner): TurnClaim(owner=owner, since=begin + timedelta(seconds=number))
        for number, owner in enumerate(owners)
    }


@pytest.mark.parametrize(
    ("running", "waiting", "begin"),
    [
        ("", "aaa", [0, 1, 2]),
        ("", "aaaab", [0, 1, 2]),
        ("a", "aaab", [3, 0]),
        ("aa", "aaab", [3]),
        ("ab", "abc", [2]),
        ("aaa", "b", []),
        ("", "", []),
    ],
)
def test_places_go_to_who_has_fewest_and_then_to_who_waits_longest(
    running: str, waiting: str, begin: list[int]
) -> None:
    found = next_ones(claims(running), claims(waiting), 3)
    assert [number for number, _ in found] == begin


@pytest.mark.parametrize(
    ("running", "owner", "ends"),
    [
        ("aaa", "b", 0),
        ("abc", "d", 0),
        ("baa", "b", 1),
        ("aab", "b", None),
        ("aaa", "a", None),
        ("abc", "a", None),
    ],
)
def test_after_its_turn_one_gives_way_to_an_owner_who_has_less(
    running: str, owner: str, ends: int | None
) -> None:
    held = claims(running)
    later = NOON + TURN + timedelta(seconds=len(running))
    if running == "baa":
        assert who_gives_way(held, owner, later) is None
        held = {**held, (3, "a"): TurnClaim(owner="a", since=NOON + timedelta(seconds=3))}
        later += timedelta(seconds=1)
    found = who_gives_way(held, owner, later)
    assert (found and found[0]) == ends
    assert who_gives_way(held, owner, NOON + TURN - timedelta(seconds=1)) is None
