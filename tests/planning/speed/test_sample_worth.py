"""How much is a sample of a larger batch worth, and which range does the gradient noise support?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.speed.goodput import efficiency
from autoscaler.planning.speed.sample_worth import LEAST_WORTH, RangeWorth, known_noise
from tests.campaigns import examples

BATCHES = st.integers(min_value=1, max_value=10**6)
NOISES = st.floats(min_value=1e-9, max_value=1e15)


def worth(*, base: int = 32, largest: int = 128, noise_scale: float) -> RangeWorth:
    made = RangeWorth.of(base=base, largest=largest, noise_scale=noise_scale)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("noise_scale", "of_largest", "supported"),
    [(1e-9, 0.25, 64), (32.0, 0.4, 96), (64.0, 0.5, 128), (1e15, 1.0, 128)],
)
def test_a_sample_is_worth_half_up_to_the_noise_scale_and_twice_the_base_batch(
    noise_scale: float, of_largest: float, supported: int
) -> None:
    found = worth(noise_scale=noise_scale)
    assert found.of_largest == pytest.approx(of_largest)
    assert found.supported == supported
    assert found.reaches_too_far is (supported < 128)


@examples(200)
@given(base=BATCHES, further=BATCHES, noise_scale=NOISES)
def test_the_supported_batch_is_the_last_in_which_a_sample_is_worth_enough(
    base: int, further: int, noise_scale: float
) -> None:
    found = worth(base=base, largest=base + further, noise_scale=noise_scale)
    batches = [found.largest, found.supported, found.supported + 1]
    at = efficiency(batches, base_batch=base, noise_scale=noise_scale)
    assert at[0] == pytest.approx(found.of_largest)
    assert at[1] >= LEAST_WORTH - 1e-9
    assert base <= found.supported <= found.largest
    assert found.reaches_too_far is (found.supported < found.largest)
    assert at[2] < LEAST_WORTH + 1e-9 or not found.reaches_too_far


def test_nothing_is_said_of_a_fixed_batch_or_one_below_the_base_or_of_unknown_noise() -> None:
    assert RangeWorth.of(base=32, largest=32, noise_scale=20.0) is None
    assert RangeWorth.of(base=32, largest=16, noise_scale=20.0) is None
    assert RangeWorth.of(base=32, largest=64, noise_scale=None) is None


@pytest.mark.parametrize("reported", [None, math.nan, math.inf, 0.0, -1.0])
def test_a_noise_scale_that_is_no_number_above_zero_is_not_known(reported: float | None) -> None:
    assert known_noise(reported) is None


def test_a_range_that_reaches_too_far_is_told_with_the_batch_up_to_which_it_pays() -> None:
    assert worth_of_range(worth(noise_scale=32.4)) == (
        "at 128 each sample is worth 0.4 of one at 32, by a gradient noise of 32 samples; up to 96"
        " it is at least half. If the number of samples is what counts, lower"
        " batch.global_batch_size.max."
    )


def test_a_range_that_the_noise_supports_is_told_without_advice() -> None:
    assert worth_of_range(worth(noise_scale=12_345.0)) == (
        "at 128 each sample is worth 0.99 of one at 32, by a gradient noise of 12,345 samples."
    )
    assert "noise of 0.25 samples" in worth_of_range(worth(noise_scale=0.25))
