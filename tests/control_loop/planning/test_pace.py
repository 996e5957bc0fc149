"""Does looking ahead keep to its share of a core?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import pytest
import redis

from autoscaler.predictions.last_look import LastLook
from autoscaler.predictions.pace import SHARE_OF_A_CORE, paced, rest_seconds


@dataclass
class Shelf:
    """Keys that last until somebody moves the time on."""

    until: dict[str, float] = field(default_factory=dict)
    now: float = 0.0

    def exists(self, key: str) -> bool:
        return self.until.get(key, 0.0) > self.now

    def set(self, key: str, _: str, *, ex: int) -> None:
        self.until[key] = self.now + ex


class Away:
    """A Redis that does not answer."""

    def exists(self, _: str) -> bool:
        raise redis.ConnectionError

    get = exists

    def set(self, _: str, __: str, *, ex: int) -> None:
        raise redis.ConnectionError(ex)


def share_worked(*, seconds: float, every: float = 15.0) -> float:
    """From the first look to the twentieth, if it is asked so often and always takes so long."""
    shelf, looks = Shelf(), 0
    while True:
        with paced(shelf, clock=lambda: shelf.now) as may_work:
            if may_work and looks == 20:
                return looks * seconds / shelf.now
            if may_work:
                looks += 1
                shelf.now += seconds
        shelf.now += every


@pytest.mark.parametrize("seconds", [0.5, 4.0, 20.0, 100.0, 400.0])
def test_however_long_a_look_takes_it_keeps_to_its_share(seconds: float) -> None:
    assert share_worked(seconds=seconds) <= SHARE_OF_A_CORE


def test_who_is_quick_looks_each_time() -> None:
    assert rest_seconds(4.0) == 0.0
    assert share_worked(seconds=4.0) == pytest.approx(4 / 19, rel=0.01)


def test_no_rest_is_endless() -> None:
    assert rest_seconds(1e6) == 1800.0


def test_one_that_fails_has_worked_as_well() -> None:
    shelf = Shelf()
    with suppress(ValueError), paced(shelf, clock=lambda: shelf.now):
        shelf.now += 60
        raise ValueError
    with paced(shelf, clock=lambda: shelf.now) as may_work:
        assert not may_work


def test_without_redis_it_works() -> None:
    times = iter((0.0, 100.0))
    with paced(Away(), clock=lambda: next(times)) as may_work:
        assert may_work


def test_without_redis_nothing_was_seen_before() -> None:
    last_look = LastLook(Away())
    last_look.note("as it is")
    assert not last_look.saw("as it is")
