"""Are streams bounded over all processes of `api`, and is what a killed one held free again?"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

import pytest
from control_plane.api.logs import stream_slots
from control_plane.api.logs.shared_slots import SharedSlots
from control_plane.api.logs.stream_slots import StreamSlots, TooManyOfOne, TooManyOfTeam
from django.conf import settings


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_slots, "MOST_OF_ONE", 2)
    monkeypatch.setattr(stream_slots, "MOST_OF_TEAM", 3)


@pytest.fixture
def team() -> str:
    return uuid.uuid4().hex


def process(lease_seconds: int = 60) -> StreamSlots:
    return StreamSlots(SharedSlots(settings.CONCERTINA.redis_url, lease_seconds=lease_seconds))


def test_a_person_has_so_many_streams_in_all_processes_together(team: str) -> None:
    one, other = process(), process()
    first = one.take(f"ada {team}", team=team)
    other.take(f"ada {team}", team=team)
    for somewhere in (one, other):
        with pytest.raises(TooManyOfOne):
            somewhere.take(f"ada {team}", team=team)
    one.leave(first)
    assert one.count(f"ada {team}") == 0
    other.take(f"ada {team}", team=team)


def test_who_waits_leaves_streams_to_those_who_read(
    team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_slots, "MOST_OF_ONE", 8)
    monkeypatch.setattr(stream_slots, "MOST_OF_TEAM", 12)
    one, other = process(), process()
    for number in range(6):
        (one, other)[number % 2].take(f"ada {team}", team=team, is_spare=True)
    for somewhere in (one, other):
        with pytest.raises(TooManyOfOne, match="You have 6 streams"):
            somewhere.take(f"ada {team}", team=team, is_spare=True)
    for _ in range(3):
        one.take(f"bob {team}", team=team, is_spare=True)
    with pytest.raises(TooManyOfTeam, match="has 9 streams"):
        one.take(f"bob {team}", team=team, is_spare=True)
    for _ in range(2):
        other.take(f"ada {team}", team=team)
    with pytest.raises(TooManyOfOne, match="You have 8 streams"):
        one.take(f"ada {team}", team=team)


def test_the_people_of_a_team_have_so_many_together_and_other_teams_theirs(team: str) -> None:
    one, other = process(), process()
    for name in ("ada", "bob", "eve"):
        one.take(f"{name} {team}", team=team)
    with pytest.raises(TooManyOfTeam):
        other.take(f"joe {team}", team=team)
    other.take(f"zoe {team}", team=f"other than {team}")


def test_what_a_killed_process_held_is_free_after_its_lease_and_not_what_is_renewed(
    team: str,
) -> None:
    holder, asks = f"ada {team}", process()
    process(lease_seconds=1).take(holder, team=team)
    renewed = process(lease_seconds=1).take(holder, team=team)
    SharedSlots(settings.CONCERTINA.redis_url, lease_seconds=60).renew([renewed])
    ends_at = time.monotonic() + 60
    while asks.count(holder) == 0:
        with suppress(TooManyOfOne):
            asks.take(holder, team=team)
        assert time.monotonic() < ends_at
    with pytest.raises(TooManyOfOne):
        asks.take(holder, team=team)


def test_without_redis_each_process_counts_for_itself(team: str) -> None:
    def alone() -> StreamSlots:
        return StreamSlots(SharedSlots("unix:///nowhere/at/all"))

    one = alone()
    places = [one.take("ada", team=team) for _ in range(2)]
    with pytest.raises(TooManyOfOne):
        one.take("ada", team=team)
    alone().take("ada", team=team)
    one.look_after()
    one.leave(places[0])
    one.take("ada", team=team)
