"""Is what later ticks need of an assignment found again, whichever release wrote it?"""

from __future__ import annotations

from typing import Final

import pytest

from autoscaler.control_loop.observe.jobs.arrangements import Arrangement, arrangement_of, columns
from autoscaler.control_loop.observe.jobs.seats import Seat
from jobs.models import Assignment

SEATS: Final = (
    Seat(worker_id="a-1-1", node="n1", gpus=2),
    Seat(worker_id="a-1-2", node="n2", gpus=2),
)
EMPTY: Final = Arrangement(seats=(), rendezvous_port=None)
FULL: Final = Arrangement(seats=SEATS, rendezvous_port=29400, replaces="a-1-0")


@pytest.mark.parametrize("arrangement", [EMPTY, FULL])
def test_it_is_found_again_in_the_columns(arrangement: Arrangement) -> None:
    written = Assignment(**{**columns(arrangement, {"price": 1.0}), "decision": {}})
    assert arrangement_of(written) == arrangement


@pytest.mark.parametrize("arrangement", [EMPTY, FULL])
def test_the_former_release_finds_it_among_the_numbers_and_is_read_there(
    arrangement: Arrangement,
) -> None:
    decision = columns(arrangement, {"price": 1.0})["decision"]
    assert decision["price"] == 1.0
    assert arrangement_of(Assignment(decision=decision)) == arrangement


def test_an_assignment_without_any_of_it_is_read() -> None:
    assert arrangement_of(Assignment(decision={"price": 1.0})) == EMPTY
