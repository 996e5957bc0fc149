from __future__ import annotations

import pytest

from autoscaler.planning.demand import Demand, demand_of
from autoscaler.planning.policies import completion_time
from autoscaler.planning.snapshot.cluster_state import PlannedPool
from tests.planning.builders import cluster, running, waiting

POOL: PlannedPool = cluster().pools[0]


def of_length(*lengths: int | None, attained: float = 0.0) -> list[Demand]:
    return [
        demand_of(
            running(f"j{i}", 1, remaining_samples=length, attained_gpu_seconds=attained), POOL
        )
        for i, length in enumerate(lengths)
    ]


def weights(demands: list[Demand]) -> list[float]:
    found = completion_time.weights(demands)
    return [found[demand.job.job_id] for demand in demands]


def test_the_job_with_most_work_left_weighs_one_the_next_three_then_five() -> None:
    assert weights(of_length(10**6, 10**4, 10**5)) == pytest.approx([1, 5, 3])


def test_equal_jobs_weigh_the_same() -> None:
    assert weights(of_length(10**5, 10**5, 10**5)) == pytest.approx([3, 3, 3])


def test_a_little_noise_moves_weights_a_little() -> None:
    even, uneven = weights(of_length(100_000, 100_000)), weights(of_length(100_000, 103_000))
    assert uneven == pytest.approx(even, abs=0.2)
    assert sum(uneven) == pytest.approx(4)


def test_work_counts_in_time_not_in_samples() -> None:
    """Twice the samples at twice the speed is the same work."""
    slow = running("slow", 1, remaining_samples=1000)
    fast = running("fast", 1, remaining_samples=2000, measurements=())
    assert demand_of(slow, POOL).remaining_seconds == pytest.approx(10, rel=0.05)
    assert demand_of(fast, POOL).remaining_seconds is None


def test_without_lengths_the_job_that_had_least_weighs_most() -> None:
    young, old = of_length(None, attained=400.0)[0], of_length(None, attained=40_000.0)[0]
    found = weights([young, demand_of(running("old", 1, remaining_samples=None), POOL), old][:1])
    assert found == pytest.approx([1])
    pair = completion_time.weights(
        [
            demand_of(running("y", 1, remaining_samples=None, attained_gpu_seconds=400), POOL),
            demand_of(running("o", 1, remaining_samples=None, attained_gpu_seconds=40_000), POOL),
        ]
    )
    assert pair["y"] / pair["o"] == pytest.approx(10)
    assert sum(pair.values()) == pytest.approx(4)


def test_a_brand_new_job_of_unknown_length_does_not_weigh_infinitely() -> None:
    found = weights([demand_of(waiting("new"), POOL), *of_length(None, attained=6000)])
    assert found[0] / found[1] == pytest.approx(10)
