"""Which GPUs of a node does a worker get?"""

from __future__ import annotations

import pytest

from autoscaler.control_loop.observe.jobs.seats import neighbouring


@pytest.mark.parametrize(
    ("free", "count", "taken"),
    [
        ([0, 1, 2, 3], 2, [0, 1]),
        ([0, 2, 3], 2, [2, 3]),
        ([0, 1, 2, 3, 5, 6], 2, [5, 6]),  # the large gap stays whole
        ([0, 2, 4], 2, [0, 2]),  # better scattered than not at all
        ([3], 1, [3]),
    ],
)
def test_gpus_of_a_worker_are_neighbours_where_they_can_be(
    free: list[int], count: int, taken: list[int]
) -> None:
    assert neighbouring(free, count) == taken
