"""The learning rate follows the batch, without jumps."""

from __future__ import annotations

import pytest

from concertina_worker.batch.learning_rate import Ramp, scale_of


@pytest.mark.parametrize(("scaling", "expected"), [("none", 1.0), ("linear", 4.0), ("sqrt", 2.0)])
def test_a_batch_four_times_as_large(scaling: str, expected: float) -> None:
    assert scale_of(scaling, batch=128, base=32) == expected


def test_the_scale_moves_in_a_straight_line() -> None:
    ramp = Ramp().towards(3.0, step=100, steps=10)
    assert [ramp.at(step) for step in (99, 100, 105, 110, 500)] == [1.0, 1.0, 2.0, 3.0, 3.0]


def test_turning_back_half_way_makes_no_jump() -> None:
    ramp = Ramp().towards(3.0, step=0, steps=10).towards(1.0, step=5, steps=10)
    assert [ramp.at(step) for step in (5, 10, 15)] == [2.0, 1.5, 1.0]


def test_the_same_target_again_changes_nothing() -> None:
    ramp = Ramp().towards(3.0, step=0, steps=10)
    assert ramp.towards(3.0, step=7, steps=10) is ramp


def test_without_warm_up_the_target_is_taken_at_once() -> None:
    assert Ramp().towards(2.0, step=4, steps=0).at(4) == 2.0
