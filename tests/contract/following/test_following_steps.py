"""Nodes come and go as the cluster's machines do: decided on plain values, each step once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cluster.following.labels import complaint_of
from cluster.following.roster import Roster, RosterMachine
from cluster.following.steps import (
    FollowingPlan,
    FollowingPool,
    KnownNode,
    StepKind,
    plan_following,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
H100 = {"concertina.io/pool": "h100"}
POOL = FollowingPool(name="h100", selector=H100, is_of_gpus=True)


def machine(name: str, **given: Any) -> RosterMachine:
    return RosterMachine(
        **{"name": name, "address": "10.0.0.1", "labels": H100, "gpus": 8, "cpus": 64, **given}
    )


def node(name: str, **given: Any) -> KnownNode:
    return KnownNode(**{"name": name, "pool": "h100", "gpus": 8, "address": "10.0.0.1", **given})


def planned(
    *machines: RosterMachine,
    known: tuple[KnownNode, ...] = (),
    pools: tuple[FollowingPool, ...] = (POOL,),
    unusable: dict[str, str] | None = None,
) -> FollowingPlan:
    roster = Roster(machines=machines, unusable=unusable or {})
    return plan_following(pools, known, roster, now=NOW, lost_after=timedelta(seconds=60))


def steps(*machines: RosterMachine, **given: Any) -> list[tuple[str, str]]:
    return [(step.kind.value, step.node) for step in planned(*machines, **given).steps]


def test_machines_that_bear_all_labels_become_nodes() -> None:
    (step,) = planned(machine("n1"), machine("n2", labels={})).steps
    assert (step.kind, step.node, step.pool) == (StepKind.JOIN, "n1", "h100")
    assert (step.gpus, step.address) == (8, "10.0.0.1")


def test_a_node_that_is_as_its_machine_needs_nothing() -> None:
    assert steps(machine("n1"), known=(node("n1"),)) == []


def test_other_gpus_are_noted_as_soon_as_nobody_has_any_of_them() -> None:
    other = machine("n1", gpus=4)
    assert steps(other, known=(node("n1"),)) == [("adjust", "n1")]
    assert steps(other, known=(node("n1", is_claimed=True),)) == []


def test_another_address_is_noted_at_once_for_nobody_is_at_the_former_one() -> None:
    other = machine("n1", gpus=4, address="10.0.0.2")
    (step,) = planned(other, known=(node("n1", is_claimed=True),)).steps
    assert (step.kind, step.gpus, step.address) == (StepKind.ADJUST, 8, "10.0.0.2")


def test_machines_of_one_name_are_told_where_they_would_be_nodes() -> None:
    twins = (machine("n1"), machine("n1", address="10.0.0.2"), machine("head", labels={}))
    plan = planned(*twins, unusable={"n1": "several bear this name", "head": "several, too"})
    assert plan.steps == []
    assert plan.notes["h100"].splitlines()[1:] == ["n1: several bear this name"]


def test_of_many_machines_that_are_no_nodes_some_are_told() -> None:
    plan = planned(*(machine(f"n{number}", gpus=0) for number in range(300)))
    lines = plan.notes["h100"].splitlines()
    assert (len(lines), lines[-1]) == (22, "And 280 more.")


SILENT = NOW - timedelta(seconds=61)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (node("n1"), []),
        (node("n1", silent_since=NOW - timedelta(seconds=59)), []),
        (node("n1", silent_since=SILENT), [("remove", "n1")]),
        (node("n1", silent_since=SILENT, is_claimed=True), []),
    ],
)
def test_one_that_is_gone_goes_when_its_silence_lasted_and_nothing_claims_it(
    row: KnownNode, expected: list[tuple[str, str]]
) -> None:
    assert steps(known=(row,)) == expected


def test_one_whose_name_several_machines_bear_stays() -> None:
    row = node("n1", silent_since=SILENT)
    assert steps(known=(row,), unusable={"n1": "several"}) == []


def test_what_the_cluster_takes_back_is_drained_and_opened_when_it_stays() -> None:
    leaving = machine("n1", leaving_because="Ray drains it")
    assert steps(leaving, known=(node("n1"),)) == [("drain", "n1")]
    drained = node("n1", is_schedulable=False, is_draining=True, leaving_because="Ray drains it")
    assert steps(leaving, known=(drained,)) == []
    assert steps(machine("n1"), known=(drained,)) == [("reopen", "n1")]
    by_an_admin = node("n1", is_schedulable=False, is_draining=True)
    assert steps(machine("n1"), known=(by_an_admin,)) == []


def test_a_new_machine_that_leaves_already_joins_drained() -> None:
    (step,) = planned(machine("n1", leaving_because="Ray drains it")).steps
    assert (step.kind, step.reason) == (StepKind.JOIN, "Ray drains it")


def test_one_that_lost_its_labels_is_drained_first_and_then_goes() -> None:
    other = machine("n1", labels={"concertina.io/pool": "a100"})
    assert steps(other, known=(node("n1", is_claimed=True),)) == [("drain", "n1")]
    assert steps(other, known=(node("n1"),)) == [("drain", "n1"), ("remove", "n1")]


def test_one_that_lost_its_labels_goes_only_when_nothing_is_left_running_there() -> None:
    other = machine("n1", labels={})
    drained = {"is_schedulable": False, "is_draining": True}
    lately = node("n1", silent_since=NOW - timedelta(seconds=59), **drained)
    assert steps(other, known=(lately,)) == []
    assert steps(other, known=(node("n1", silent_since=SILENT, **drained),)) == [("remove", "n1")]


def test_one_moves_to_another_pool_by_way_of_nowhere() -> None:
    other = FollowingPool(name="other", selector={"zone": "a"}, is_of_gpus=True)
    moved = machine("n1", labels={"zone": "a"})
    both = {"pools": (POOL, other)}
    assert steps(moved, known=(node("n1"),), **both) == [("drain", "n1"), ("remove", "n1")]
    assert steps(moved, **both) == [("join", "n1")]


def test_the_first_pool_has_what_two_choose_and_the_other_is_told() -> None:
    other = FollowingPool(name="other", selector=H100, is_of_gpus=True)
    plan = planned(machine("n1"), pools=(POOL, other))
    assert [step.pool for step in plan.steps] == ["h100"]
    assert "n1 bears the labels of pool h100 as well" in plan.notes["other"]


def test_a_pool_keeps_a_machine_that_a_new_one_chooses_as_well() -> None:
    first = FollowingPool(name="a", selector=H100, is_of_gpus=True)
    plan = planned(machine("n1"), known=(node("n1"),), pools=(first, POOL))
    assert plan.steps == []
    assert "n1 bears the labels of pool h100 as well, which has it" in plan.notes["a"]


def test_a_node_of_a_pool_that_follows_nobody_is_left_to_admins() -> None:
    plan = planned(machine("n1"), known=(node("n1", pool="by-hand"),))
    assert plan.steps == []
    assert "n1 is a node of pool by-hand, which follows no cluster" in plan.notes["h100"]


def test_gpus_of_a_node_are_those_of_its_machine_or_as_many_as_the_pool_says() -> None:
    def gpus(machine: RosterMachine, **pool: Any) -> list[int]:
        one = FollowingPool(name="p", selector=H100, **{"is_of_gpus": True, **pool})
        return [step.gpus for step in planned(machine, pools=(one,)).steps]

    assert gpus(machine("n1")) == [8]
    assert gpus(machine("n1"), gpus_per_node=2) == [2]
    assert gpus(machine("n1", gpus=4), gpus_per_node=8) == [8]  # silent, with both numbers
    assert gpus(machine("n1", gpus=0)) == []
    assert gpus(machine("n1", gpus=0), is_of_gpus=False) == [64]
    assert gpus(machine("n1"), is_of_gpus=False) == [8]
    assert gpus(machine("n1", gpus=5000)) == [1024]


@pytest.mark.parametrize(
    ("machines", "words"),
    [
        ((), "No machine of the cluster bears concertina.io/pool=h100. Start one: ray start"),
        ((machine("n1"), machine("n2", gpus=4)), "different numbers of GPUs (4, 8)"),
        ((machine("n1", gpus=0),), "n1 has no GPUs in the cluster (--num-gpus)"),
        ((machine("a/b"),), "'a/b' cannot be a node's name"),
        ((machine("n" * 81),), "cannot be a node's name"),
    ],
)
def test_admins_are_told_what_is_wrong_with_the_machines(
    machines: tuple[RosterMachine, ...], words: str
) -> None:
    assert words in planned(*machines).notes["h100"]


def test_what_is_guaranteed_above_what_is_there_is_told_and_no_error() -> None:
    pool = FollowingPool(name="h100", selector=H100, is_of_gpus=True, guaranteed=16)
    assert planned(machine("n1"), machine("n2"), pools=(pool,)).notes["h100"] == ""
    said = planned(machine("n1"), pools=(pool,)).notes["h100"]
    assert said.startswith("Teams are guaranteed 16 GPUs, and 8 are there now.")


@pytest.mark.parametrize(
    "selector",
    [
        [],
        "a=b",
        {"": "b"},
        {"a": ""},
        {"a": 1},
        {"a b": "c"},
        {"a": "-b"},
        {"a": "b" * 64},
        {"A.io/x/y": "b"},
        {f"k{number}": "v" for number in range(17)},
    ],
)
def test_what_cannot_be_labels_is_no_selector(selector: object) -> None:
    assert complaint_of(selector)


def test_labels_as_kubernetes_writes_them_are_a_selector() -> None:
    assert complaint_of({}) == ""
    assert complaint_of({"concertina.io/pool": "h100", "zone": "eu-1.a_B"}) == ""
