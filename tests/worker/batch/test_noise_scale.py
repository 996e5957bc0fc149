"""The noise scale is measured without bias, however a batch is divided."""

from __future__ import annotations

import math
from statistics import mean

import pytest
import torch

from concertina_worker.batch.noise_scale import NoiseAverage, SquaredNorms, efficiency

DIMENSIONS, SIGNAL, NOISE = 40, 2.0, 30.0  # |G|² and tr(Sigma): a noise scale of 15 samples


def measure(shares: list[int], generator: torch.Generator) -> SquaredNorms:
    """One step on synthetic gradients: a true one, and noise of each sample."""
    true = torch.full((DIMENSIONS,), math.sqrt(SIGNAL / DIMENSIONS), dtype=torch.float64)
    batch = sum(shares)
    weighted = mean_square = 0.0
    for share in shares:
        noise = torch.randn(share, DIMENSIONS, generator=generator, dtype=torch.float64)
        gradient = true + noise.mean(0) * math.sqrt(NOISE / DIMENSIONS)
        weighted = weighted + gradient * share / batch
        mean_square += share / batch * gradient.dot(gradient).item()
    return SquaredNorms(
        parts=len(shares),
        of_parts=mean_square,
        of_sum=weighted.dot(weighted).item(),  # type: ignore[attr-defined] # a tensor
    )


@pytest.mark.parametrize(
    "shares",
    [[8, 8], [4, 4, 4, 4], [13, 2, 1], [43, 43, 42], [1, 30]],
    ids=["two", "four", "uneven", "a batch of 128", "very uneven"],
)
def test_estimates_of_noise_and_signal_are_unbiased(shares: list[int]) -> None:
    generator = torch.Generator().manual_seed(sum(shares))
    told = [measure(shares, generator) for _ in range(4000)]
    for values, expected in (
        ([norms.noise(sum(shares)) for norms in told], NOISE),
        ([norms.signal for norms in told], SIGNAL),
    ):
        spread = torch.tensor(values).std().item() / math.sqrt(len(values))
        assert mean(values) == pytest.approx(expected, abs=4 * spread)
        assert spread < 0.1 * expected


def test_the_average_finds_the_noise_scale() -> None:
    generator = torch.Generator().manual_seed(0)
    average = NoiseAverage()
    for _ in range(500):
        average = average.with_step(measure([32, 32], generator), samples=64)
    assert average.scale == pytest.approx(NOISE / SIGNAL, rel=0.15)


def test_the_average_follows_a_training_whose_signal_fades() -> None:
    average = NoiseAverage()
    for signal in [4.0] * 100 + [1.0] * 400:
        clear = SquaredNorms(parts=2, of_parts=signal + 2 * NOISE / 16, of_sum=signal + NOISE / 16)
        average = average.with_step(clear, samples=16)
    assert average.scale == pytest.approx(NOISE, rel=0.01)


def test_one_part_says_nothing() -> None:
    alone = SquaredNorms(parts=1, of_parts=1.0, of_sum=1.0)
    assert NoiseAverage().with_step(alone, samples=8).scale is None


@pytest.mark.parametrize("square", [math.inf, math.nan])
def test_an_overflow_of_half_precision_is_left_out(square: float) -> None:
    overflown = SquaredNorms(parts=2, of_parts=square, of_sum=square)
    known = NoiseAverage(noise=10.0, signal=1.0, measurements=5)
    assert known.with_step(overflown, samples=8) == known


def test_where_no_signal_is_seen_the_noise_is_infinite() -> None:
    assert NoiseAverage(noise=3.0, signal=-0.1, measurements=9).scale == math.inf


@pytest.mark.parametrize(
    ("measurements", "signal", "told"),
    [(0, 0.0, None), (9, 1.0, None), (10, 1.0, 3.0), (10, -0.1, None)],
)
def test_others_are_told_of_a_scale_that_rests_on_enough(
    measurements: int, signal: float, told: float | None
) -> None:
    average = NoiseAverage(noise=3.0, signal=signal, measurements=measurements)
    assert average.told_scale == told


def test_efficiency_falls_from_1_at_the_base() -> None:
    assert efficiency(16, base=32, noise_scale=100.0) == 1.0
    assert efficiency(32, base=32, noise_scale=100.0) == 1.0
    assert efficiency(232, base=32, noise_scale=100.0) == pytest.approx(132 / 332)
    assert efficiency(1 << 20, base=32, noise_scale=math.inf) == 1.0
