"""Which batches are feasible, and which of them is best, for many worker counts at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autoscaler.planning.demand.batch import NO_BATCH, FeasibleBatches, best_batches
from tests.planning.builders import batch

ANY = 10**6


def step_seconds(share: float, workers: int, max_per_gpu: int | None) -> float:
    """Computation with a fixed cost per micro-batch, half overlapped with an exchange."""
    micro_batches = math.ceil(share / max_per_gpu) if max_per_gpu else 1
    computation = 0.1 * micro_batches + 0.001 * share
    exchange = 0.05 + 0.01 * (workers - 2) if workers > 1 else 0.0
    return float((computation**1.5 + exchange**1.5) ** (1 / 1.5))


def best(
    *workers: int, at_most: int = ANY, current: int | None = None, **rules: int
) -> tuple[int, ...]:
    allowed = batch(64, **rules)
    counts = np.array(workers)

    def rates(batches: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.float64]:
        return np.array(
            [
                [b / step_seconds(math.ceil(b / k), k, allowed.max_per_gpu) for b in row]
                for k, row in zip(workers, batches.tolist(), strict=True)
            ]
        )

    feasible = FeasibleBatches.of(allowed, counts, at_most=at_most)
    found = best_batches(feasible, rates, max_per_gpu=allowed.max_per_gpu, current=current)
    return tuple(found.tolist())


def tried(*workers: int, at_most: int = ANY, **rules: int) -> list[list[int]]:
    """The distinct candidates by number of workers."""
    allowed = batch(64, **rules)
    feasible = FeasibleBatches.of(allowed, np.array(workers), at_most=at_most)
    rows = feasible.candidates(allowed.max_per_gpu).tolist()
    return [
        sorted(set(row)) if count else []
        for row, count in zip(rows, feasible.count.tolist(), strict=True)
    ]


def test_a_range_of_one_is_a_constant_batch() -> None:
    assert tried(3) == [[64]]
    assert best(3) == (64,)


def test_batches_are_multiples_within_the_range() -> None:
    assert tried(2, minimum=50, maximum=200, multiple_of=32) == [[64, 96, 128, 160, 192]]


def test_each_number_of_workers_has_its_own_range() -> None:
    assert tried(1, 3, 8, minimum=2, maximum=6) == [[2, 3, 4, 5, 6], [3, 4, 5, 6], []]


def test_a_long_range_is_tried_on_a_grid_with_both_ends() -> None:
    (grid,) = tried(1, minimum=1, maximum=100_000)
    assert (grid[0], grid[-1]) == (1, 100_000)
    assert len(grid) <= 64


def test_a_long_range_is_also_tried_where_the_memory_of_all_workers_is_just_full() -> None:
    (grid,) = tried(3, minimum=1, maximum=100_000, max_per_gpu=1000)
    assert {3000, 6000, 12_000, 24_000} <= set(grid)


def test_no_worker_is_left_without_a_sample() -> None:
    assert best(8, minimum=2, maximum=6) == (NO_BATCH,)


def test_without_accumulation_the_memory_of_all_workers_limits_the_batch() -> None:
    rules = {"minimum": 64, "maximum": 1024, "multiple_of": 64, "max_per_gpu": 100}
    assert tried(2, **rules, accumulation=False) == [[64, 128, 192]]


def test_the_range_is_never_cut_below_its_own_minimum() -> None:
    assert tried(1, minimum=512, maximum=1024, multiple_of=256, at_most=64) == [[512]]


def test_fixed_costs_make_the_largest_allowed_batch_the_best() -> None:
    assert best(1, maximum=1024) == (1024,)
    assert best(1, maximum=1024, at_most=128) == (128,)


def test_accumulation_that_pays_its_fixed_time_again_is_avoided() -> None:
    """At 64 per GPU, 65 samples take two micro-batches: 64 is the better batch."""
    assert best(1, maximum=65, max_per_gpu=64) == (64,)


def test_the_current_batch_is_not_left_for_a_trifle() -> None:
    assert best(1, maximum=1024, current=1000) == (1000,)
    assert best(1, maximum=1024, current=256) == (1024,)


def test_a_current_batch_outside_the_range_is_left() -> None:
    assert best(1, maximum=1024, at_most=512, current=1000) == (512,)
    assert best(1, maximum=1024, multiple_of=64, current=1000) == (1024,)


@pytest.mark.parametrize(("wanted", "nearest"), [(1, 64), (70, 64), (90, 96), (10**6, 192)])
def test_the_nearest_batch(wanted: int, nearest: int) -> None:
    rules = batch(64, minimum=50, maximum=200, multiple_of=32)
    feasible = FeasibleBatches.of(rules, np.array([1, 300]), at_most=ANY)
    assert feasible.nearest(wanted).tolist() == [nearest, NO_BATCH]


def test_b_opt_equals_trying_every_batch() -> None:
    workers = (1, 2, 3, 5, 8)
    found = best(*workers, minimum=8, maximum=500, multiple_of=8, max_per_gpu=48)
    for k, b_opt in zip(workers, found, strict=True):
        rates = {b: b / step_seconds(math.ceil(b / k), k, 48) for b in range(8, 501, 8)}
        assert rates[b_opt] == pytest.approx(max(rates.values()))
