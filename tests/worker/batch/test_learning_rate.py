"""The learning rate follows the batch, without jumps."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

from concertina_worker.batch.learning_rate import (
    LearningRateRule,
    MissingScalingError,
    Ramp,
    WrongMultiplierError,
    check_scaling,
)
from concertina_worker.protocol import BatchRules, LearningRateScaling


def rule(scaling: str, **settings: Any) -> LearningRateRule:
    return LearningRateRule(scaling=LearningRateScaling(scaling), base=32, **settings)


@pytest.mark.parametrize(("scaling", "expected"), [("none", 1.0), ("linear", 4.0), ("sqrt", 2.0)])
def test_a_batch_four_times_as_large(scaling: str, expected: float) -> None:
    assert rule(scaling).multiplier(128) == expected


def test_a_custom_rule_is_the_scripts_own() -> None:
    own = rule("custom", custom=lambda batch, base: (batch / base) ** 0.7)
    assert own.multiplier(128) == pytest.approx(4**0.7)


@pytest.mark.parametrize("answer", [0.0, -1.0, math.nan, math.inf])
def test_a_custom_rule_must_answer_with_a_number_above_0(answer: float) -> None:
    with pytest.raises(WrongMultiplierError, match=r"batch=128, base=32"):
        rule("custom", custom=lambda *_: answer).multiplier(128)


@pytest.mark.parametrize(
    ("noise_scale", "gain"),
    [(None, 1.0), (0.0, 1.0), (96.0, 4 * 128 / 224), (math.inf, 4.0)],
    ids=["unknown", "none", "some", "nothing else"],
)
def test_adascale_gains_what_averaging_over_a_larger_batch_brings(
    noise_scale: float | None, gain: float
) -> None:
    assert rule("adascale").multiplier(128, noise_scale) == pytest.approx(gain)
    suited = rule("adascale").suited(gain, to_adaptive=True)
    assert suited == pytest.approx(math.sqrt(gain))


def test_the_gain_is_that_of_the_paper() -> None:
    variance, square = 7.0, 0.5  # of the gradient of the base batch, and of the true gradient
    growth = 128 / 32
    paper = (variance + square) / (variance / growth + square)
    noise_scale = 32 * variance / square
    assert rule("adascale").multiplier(128, noise_scale) == pytest.approx(paper)


def test_below_the_base_adascale_is_linear() -> None:
    assert rule("adascale").multiplier(16, 100.0) == 0.5


def test_the_multiplier_moves_in_a_straight_line() -> None:
    linear = rule("linear", warmup_steps=10)
    ramp = linear.turned(Ramp(), 96, step=100)
    steps = (99, 100, 105, 110, 500)
    assert [linear.at(ramp, step) for step in steps] == [1.0, 1.0, 2.0, 3.0, 3.0]


def test_turning_back_half_way_makes_no_jump() -> None:
    linear = rule("linear", warmup_steps=10)
    there = linear.turned(Ramp(), 96, step=0)
    back = linear.turned(there, 32, step=5)
    assert [linear.at(back, step) for step in (5, 10, 15)] == [2.0, 1.5, 1.0]


def test_the_same_batch_again_changes_nothing() -> None:
    linear = rule("linear", warmup_steps=10)
    ramp = linear.turned(Ramp(), 96, step=0)
    assert linear.turned(ramp, 96, step=7) is ramp


def test_without_warm_up_the_new_multiplier_is_taken_at_once() -> None:
    linear = rule("linear")
    assert linear.at(linear.turned(Ramp(), 64, step=4), 4) == 2.0


def test_on_the_ramp_adascale_follows_the_noise() -> None:
    ada = rule("adascale", warmup_steps=10)
    ramp = ada.turned(Ramp(), 128, step=0)
    assert ada.at(ramp, 5, 0.0) == 1.0
    assert ada.at(ramp, 5, math.inf) == 2.5


def rules(scaling: str) -> BatchRules:
    return {"base": 32, "lr_scaling": scaling, "lr_warmup_steps": 0, "max_per_gpu": None}


def test_a_custom_job_whose_script_has_no_rule_is_told_so() -> None:
    with pytest.raises(MissingScalingError, match=r"job\.register\(…, lr_scaling="):
        check_scaling(rules("custom"), None)


def test_a_rule_that_the_job_does_not_ask_for_is_told_as_a_warning() -> None:
    with pytest.warns(UserWarning, match="the job says `lr_scaling: sqrt`"):
        check_scaling(rules("sqrt"), lambda batch, base: batch / base)


@pytest.mark.parametrize("asked", [None, rules("custom")], ids=["alone", "custom"])
def test_a_rule_is_fine_where_it_is_asked_for_and_alone(asked: BatchRules | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_scaling(asked, lambda batch, base: batch / base)
