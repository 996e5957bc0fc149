"""Which waiting jobs would start if their pool had more nodes, by the planner's own answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autoscaler.control_loop.machines.one_more_node import GrowthQuestions, PoolGrowth, StartsOnMore
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, OtherPool, PlannedJob
from tests.planning.builders import batch, cluster, running, waiting

FOUR = PoolGrowth(gpus_per_node=4, nodes=3)


def job(workers: int, **given: Any) -> PlannedJob:
    return waiting("new", min_workers=workers, max_workers=workers, **given)


def asked(
    state: ClusterState, growths: dict[str, PoolGrowth], planner: Any = plan, **given: Any
) -> dict[str, StartsOnMore]:
    questions = given.get("questions") or GrowthQuestions()
    return questions.would_start(state, plan(state), growths, planner=planner)


def starts(state: ClusterState, growth: PoolGrowth = FOUR) -> StartsOnMore | None:
    return asked(state, {"default": growth}).get("default")


def on_more(nodes: int) -> StartsOnMore:
    return StartsOnMore(jobs=frozenset({"new"}), nodes=nodes)


NOBODY = StartsOnMore()
NO_QUOTAS: dict[str, tuple[int, int | None]] = {"vision": (0, None), "language": (0, None)}
CASES: dict[str, tuple[ClusterState, StartsOnMore]] = {
    "nobody waits": (cluster(running("old", 4)), NOBODY),
    "it starts anyway": (cluster(job(4)), NOBODY),
    "it needs more than there is": (cluster(job(6)), on_more(1)),
    "there is no node at all": (cluster(job(2), nodes=()), on_more(1)),
    "it needs three more nodes": (cluster(job(16)), on_more(3)),
    "it needs more than may come": (cluster(job(17)), NOBODY),
    "its team's limit keeps it": (cluster(job(6), quotas={"vision": (0, 4)}), NOBODY),
    "a worker of it needs a larger node": (cluster(job(1, gpus_per_worker=5)), NOBODY),
}


@pytest.mark.parametrize("case", CASES)
def test_who_would_start(case: str) -> None:
    state, expected = CASES[case]
    assert starts(state) == expected


def test_one_at_its_end_is_tried_with_one_more() -> None:
    assert starts(cluster(job(6)), PoolGrowth(gpus_per_node=4, nodes=0)) == on_more(1)


def fail(_: ClusterState) -> Any:
    raise ArithmeticError


class Counting:
    """A planner that counts how often it is asked, and with how many nodes at most."""

    def __init__(self) -> None:
        self.times = self.most_nodes = 0

    def __call__(self, state: ClusterState) -> Any:
        self.times += 1
        self.most_nodes = max(self.most_nodes, len(state.pools[0].nodes))
        return plan(state)


def test_where_a_planner_fails_nobody_knows() -> None:
    """It is not that nobody would start: what was asked for would be withdrawn."""
    assert asked(cluster(job(6)), {"default": FOUR}, planner=fail) == {}


def test_a_planner_that_fails_is_asked_again_after_a_minute() -> None:
    questions, state = GrowthQuestions(), cluster(job(6))
    assert asked(state, {"default": FOUR}, planner=fail, questions=questions) == {}
    soon = replace(state, now=state.now + 59.0)
    assert asked(soon, {"default": FOUR}, questions=questions) == {}
    later = replace(state, now=state.now + 61.0)
    assert asked(later, {"default": FOUR}, questions=questions) == {"default": on_more(1)}


def test_pools_that_do_not_ask_cost_nothing() -> None:
    state, planner = cluster(job(6)), Counting()
    assert asked(state, {"other": FOUR}, planner=planner) == {}
    assert planner.times == 0
    asked(state, {"default": FOUR}, planner=planner)
    assert planner.times == 1  # one more node is enough


def test_no_more_nodes_are_tried_than_the_largest_job_can_use() -> None:
    state, planner = cluster(job(10)), Counting()
    growth = PoolGrowth(gpus_per_node=4, nodes=1000)
    assert asked(state, {"default": growth}, planner=planner) == {"default": on_more(3)}
    assert planner.most_nodes == 4


def test_an_answer_holds_for_ten_times_as_long_as_it_took() -> None:
    """No queue is so long that asking takes more than a tenth of the time."""
    questions, state, planner = GrowthQuestions(), cluster(job(6)), Counting()
    for _ in range(3):  # at one moment
        found = asked(state, {"default": FOUR}, planner=planner, questions=questions)
        assert found == {"default": on_more(1)}
    assert planner.times == 1
    later = replace(state, now=state.now + 60.0)
    asked(later, {"default": FOUR}, planner=planner, questions=questions)
    assert planner.times == 2
    before = replace(state, now=state.now - 60.0)  # a clock was put back
    asked(before, {"default": FOUR}, planner=planner, questions=questions)
    assert planner.times == 3


def test_of_jobs_that_came_since_an_answer_nobody_knows() -> None:
    questions, state = GrowthQuestions(), cluster(job(6))
    asked(state, {"default": FOUR}, questions=questions)
    other = replace(state, jobs=(waiting("other", min_workers=6, max_workers=6),))
    assert asked(other, {"default": FOUR}, questions=questions) == {}


def two_pools() -> ClusterState:
    """A job that waits in `default`, and may be in `cloud` as well; both are full."""
    choosing = job(6, other_pools=(OtherPool(name="cloud", batch=batch()),))
    state = cluster(choosing, quotas=NO_QUOTAS)
    cloud = replace(state.pools[0], name="cloud", nodes=())
    quotas = (*state.quotas, *(replace(one, pool="cloud") for one in state.quotas))
    return replace(state, pools=(*state.pools, cloud), quotas=quotas)


BIG = PoolGrowth(gpus_per_node=8, nodes=1)
FULL = PoolGrowth(gpus_per_node=8, nodes=0)


def test_a_job_of_several_pools_counts_in_the_first_that_may_grow() -> None:
    state = two_pools()
    assert asked(state, {"cloud": BIG}) == {"cloud": on_more(1)}
    assert asked(state, {"default": BIG, "cloud": BIG}) == {
        "default": on_more(1),
        "cloud": NOBODY,  # one machine is enough
    }
    assert asked(state, {"default": FULL, "cloud": BIG}) == {
        "default": NOBODY,
        "cloud": on_more(1),
    }
    assert asked(state, {"default": FULL, "cloud": FULL})["default"] == on_more(1)
