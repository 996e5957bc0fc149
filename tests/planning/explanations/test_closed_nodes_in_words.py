"""Does a waiting job name the nodes that take no new work, and say who can change that?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.snapshot.cluster_state import PlannedNode
from tests.planning.builders import cluster, remedies, running, said, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState

CLOSED: dict[str, tuple[dict[str, bool], str, str]] = {
    # sentence: (how the node is closed, what is said of it, and by whom it may be opened)
    "a cordoned node": (
        {"is_schedulable": False}, "Node n1 (4 GPUs) is cordoned",
        "an admin can let it take work again"),
    "a node that is being drained": (
        {"is_schedulable": False, "is_draining": True}, "Node n1 (4 GPUs) is being drained",
        "an admin can let it take work again"),
    "a node that does not answer": (
        {"is_schedulable": False, "is_silent": True}, "Node n1 (4 GPUs) does not answer", ""),
}  # fmt: skip


def closing(state: ClusterState, *names: str, **how: Any) -> ClusterState:
    (pool,) = state.pools
    nodes = tuple(replace(n, **how) if n.name in names else n for n in pool.nodes)
    return replace(state, pools=(replace(pool, nodes=nodes),))


@pytest.mark.parametrize("sentence", CLOSED)
def test_the_only_node_is_named_with_what_is_the_matter(sentence: str) -> None:
    how, why, who = CLOSED[sentence]
    told = said(closing(cluster(waiting("a")), "n1", **how))["a"]
    assert "no node of pool default takes new work" in told
    assert why in told
    assert who in told
    assert "smallest sizes" not in told


@pytest.mark.parametrize("is_draining", [False, True])
def test_the_remedy_names_the_node_that_an_admin_may_open(*, is_draining: bool) -> None:
    state = cluster(waiting("a"))
    state = closing(state, "n1", is_schedulable=False, is_draining=is_draining)
    (remedy,) = remedies(state)["a"]
    assert (remedy.kind, remedy.node) == ("reopened_node", "n1")
    assert said(state)["a"].endswith(
        "Starts as soon as an admin lets node n1 take work again (uncordon)."
    )


def test_a_node_that_does_not_answer_is_not_offered() -> None:
    state = closing(cluster(waiting("a")), "n1", is_schedulable=False, is_silent=True)
    (remedy,) = remedies(state)["a"]
    assert remedy.kind == "free_gpus"


def test_a_closed_node_beside_a_full_one_is_named_too() -> None:
    holder = running("holder", 4, min_workers=4)
    state = cluster(holder, waiting("a"), nodes=(4, 2))
    told = said(closing(state, "n2", is_schedulable=False))["a"]
    assert "none is free, and the running jobs are at their smallest sizes" in told
    assert "vision holds 4 of 6" in told
    assert "Node n2 (2 GPUs) is cordoned; an admin can let it take work again." in told
    assert "node n2 take work again (uncordon)" in told


def test_of_many_closed_nodes_the_largest_are_named_and_the_others_counted() -> None:
    nodes = tuple(PlannedNode(name=f"n{i}", gpus=i, is_schedulable=False) for i in range(1, 7))
    state = cluster(waiting("a"))
    state = replace(state, pools=(replace(state.pools[0], nodes=nodes),))
    told = said(state)["a"]
    assert (
        "Nodes that take no new work: n6 (6 GPUs, cordoned), n5 (5 GPUs, cordoned),"
        " n4 (4 GPUs, cordoned) and 3 more; an admin can let them take work again." in told
    )


def test_while_all_nodes_take_work_none_is_named() -> None:
    state = cluster(running("holder", 4, min_workers=4), waiting("a"))
    assert "ode n1" not in said(state)["a"]
