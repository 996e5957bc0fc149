from __future__ import annotations

import math

import pytest

from autoscaler.planning.batch import best_batch, feasible_batches, nearest_batch
from autoscaler.planning.throughput import ThroughputModel
from tests.planning.builders import batch

MODEL = ThroughputModel(
    compute_fixed=0.1,
    compute_per_sample=0.001,
    in_node_fixed=0.05,
    in_node_per_worker=0.01,
    cross_node_fixed=0.2,
    cross_node_per_worker=0.01,
    overlap=1.5,
)


def best(
    workers: int, at_most: int = 10**6, current: int | None = None, **rules: int
) -> int | None:
    found = best_batch(
        MODEL,
        batch(64, **rules),
        workers=workers,
        crosses_nodes=False,
        at_most=at_most,
        current=current,
    )
    return None if found is None else found[0]


def test_a_range_of_one_is_a_constant_batch() -> None:
    assert feasible_batches(batch(64), workers=3, at_most=10**6) == (64,)
    assert best(3) == 64


def test_batches_are_multiples_within_the_range() -> None:
    rules = batch(64, minimum=50, maximum=200, multiple_of=32)
    assert feasible_batches(rules, workers=2, at_most=10**6) == (64, 96, 128, 160, 192)


def test_a_long_range_is_tried_on_a_grid_with_both_ends() -> None:
    grid = feasible_batches(batch(64, minimum=1, maximum=100_000), workers=1, at_most=10**6)
    assert (grid[0], grid[-1]) == (1, 100_000)
    assert len(grid) <= 64
    assert list(grid) == sorted(set(grid))


def test_no_worker_is_left_without_a_sample() -> None:
    assert feasible_batches(batch(64, minimum=2, maximum=6), workers=8, at_most=10**6) == ()
    assert best(8, minimum=2, maximum=6) is None


def test_without_accumulation_the_memory_of_all_workers_limits_the_batch() -> None:
    rules = batch(64, minimum=64, maximum=1024, multiple_of=64, max_per_gpu=100, accumulation=False)
    assert feasible_batches(rules, workers=2, at_most=10**6) == (64, 128, 192)


def test_fixed_costs_make_the_largest_allowed_batch_the_best() -> None:
    assert best(1, maximum=1024) == 1024
    assert best(1, maximum=1024, at_most=128) == 128


def test_accumulation_that_pays_its_fixed_time_again_is_avoided() -> None:
    """At 64 per GPU, 65 samples take two micro-batches: 64 is the better batch."""
    assert best(1, maximum=65, max_per_gpu=64) == 64


def test_the_current_batch_is_not_left_for_a_trifle() -> None:
    assert best(1, maximum=1024, current=1000) == 1000
    assert best(1, maximum=1024, current=256) == 1024


@pytest.mark.parametrize(("wanted", "nearest"), [(1, 64), (70, 64), (90, 96), (10**6, 192)])
def test_the_nearest_batch(wanted: int, nearest: int) -> None:
    rules = batch(64, minimum=50, maximum=200, multiple_of=32)
    assert nearest_batch(rules, workers=1, wanted=wanted) == nearest


def test_b_opt_equals_trying_every_batch() -> None:
    rules = batch(64, minimum=8, maximum=500, multiple_of=8, max_per_gpu=48)
    for workers in (1, 2, 3, 5, 8):
        found = best_batch(MODEL, rules, workers=workers, crosses_nodes=False, at_most=10**6)
        rates = {}
        for size in range(8, 501, 8):
            local = math.ceil(size / workers)
            step = 0.1 * math.ceil(local / 48) + 0.001 * local  # computation
            if workers > 1:
                step = (step**1.5 + (0.05 + 0.01 * (workers - 2)) ** 1.5) ** (1 / 1.5)
            rates[size] = size / step
        assert found is not None
        assert found[1] == pytest.approx(max(rates.values()))
        assert rates[found[0]] == pytest.approx(found[1])
