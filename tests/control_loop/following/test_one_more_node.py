"""Which waiting jobs would start if their pool had more nodes, by the planner's own answer."""

from __future__ import annotations

from typing import Any

import pytest

from autoscaler.control_loop.machines.one_more_node import PoolGrowth, StartsOnMore, would_start
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from tests.planning.builders import cluster, running, waiting

FOUR = PoolGrowth(gpus_per_node=4, nodes=3)


def job(workers: int, **given: Any) -> PlannedJob:
    return waiting("new", min_workers=workers, max_workers=workers, **given)


def starts(state: ClusterState, growth: PoolGrowth = FOUR) -> StartsOnMore | None:
    found = would_start(state, plan(state), {"default": growth}, planner=plan)
    return found.get("default")


def on_more(nodes: int) -> StartsOnMore:
    return StartsOnMore(jobs=frozenset({"new"}), nodes=nodes)


NO_QUOTAS: dict[str, tuple[int, int | None]] = {"vision": (0, None), "language": (0, None)}
CASES: dict[str, tuple[ClusterState, StartsOnMore | None]] = {
    "nobody waits": (cluster(running("old", 4)), None),
    "it starts anyway": (cluster(job(4)), None),
    "it needs more than there is": (cluster(job(6)), on_more(1)),
    "there is no node at all": (cluster(job(2), nodes=()), on_more(1)),
    "it needs three more nodes": (cluster(job(16)), on_more(3)),
    "it needs more than may come": (cluster(job(17)), None),
    "its team's limit keeps it": (cluster(job(6), quotas={"vision": (0, 4)}), None),
    "a worker of it needs a larger node": (cluster(job(1, gpus_per_worker=5)), None),
}


@pytest.mark.parametrize("case", CASES)
def test_who_would_start(case: str) -> None:
    state, expected = CASES[case]
    assert starts(state) == expected


def test_one_at_its_end_is_tried_with_one_more() -> None:
    assert starts(cluster(job(6)), PoolGrowth(gpus_per_node=4, nodes=0)) == on_more(1)


def test_a_planner_that_fails_starts_nobody() -> None:
    def fail(_: ClusterState) -> Any:
        raise ArithmeticError

    state = cluster(job(6))
    assert would_start(state, plan(state), {"default": FOUR}, planner=fail) == {}


def test_pools_that_do_not_ask_cost_nothing() -> None:
    state, asked = cluster(job(6)), []

    def count(one: ClusterState) -> Any:
        asked.append(one)
        return plan(one)

    assert would_start(state, plan(state), {"other": FOUR}, planner=count) == {}
    assert asked == []
    would_start(state, plan(state), {"default": FOUR}, planner=count)
    assert len(asked) == 1  # one more node is enough
