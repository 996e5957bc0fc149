"""Are places handed out pair by pair, as the weights of completion_time promise?"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.demand import Demand, demand_of
from autoscaler.planning.policies.completion_time import SAME_LENGTH_RATIO, weights
from tests.planning.builders import cluster, waiting


def demand_with(name: str, seconds: float) -> Demand:
    return replace(demand_of(waiting(name), cluster().pools[0]), remaining_seconds=seconds)


@given(st.lists(st.floats(1.0, 1e6) | st.sampled_from([600.0, 700.0, 800.0]), max_size=30))
def test_each_pair_hands_out_one_place(lengths: list[float]) -> None:
    found = weights([demand_with(f"j{i}", length) for i, length in enumerate(lengths)])

    def place(own: float, other: float) -> float:
        lead = math.log(other / own) / (2 * math.log(SAME_LENGTH_RATIO))
        return min(max(0.5 + lead, 0.0), 1.0)

    for i, own in enumerate(lengths):
        rank = 1 + sum(place(own, other) for j, other in enumerate(lengths) if j != i)
        assert found[f"j{i}"] == pytest.approx(2 * rank - 1, abs=1e-6)
