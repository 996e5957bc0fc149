"""How long do looks wait for logs of ended containers, if every one of them has a reason to?"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from cluster.docker_host.logs.slow_refill import SHARE, SlowRefill

MOST = 2.0


@dataclass
class Clock:
    seconds: float = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


def test_one_look_may_wait_for_long() -> None:
    assert SlowRefill(now=Clock()).left(MOST) == MOST


@pytest.mark.parametrize("looks", [100, 1000])
def test_looks_that_all_wait_take_a_small_part_of_the_time(looks: int) -> None:
    clock, waited = Clock(), 0.0
    refill = SlowRefill(now=clock)
    began = clock()
    for _ in range(looks):
        left = refill.left(MOST)
        assert left <= MOST
        refill.spend(lambda left=left: clock.wait(left))  # type: ignore[misc]  # a default binds it
        waited += left
        clock.wait(1.0)
    assert waited <= MOST + SHARE * (clock() - began)


def test_what_was_spent_comes_back() -> None:
    clock = Clock()
    refill = SlowRefill(now=clock)
    refill.spend(lambda: clock.wait(MOST))
    assert refill.left(MOST) < 0.2
    clock.wait(MOST / SHARE)
    assert refill.left(MOST) == pytest.approx(MOST)


def test_a_wait_that_fails_counts_as_well() -> None:
    clock = Clock()
    refill = SlowRefill(now=clock)

    def fail() -> None:
        clock.wait(1.0)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        refill.spend(fail)
    assert refill.left(MOST) == pytest.approx(MOST - 1.0 + SHARE)
