"""Which nodes there are is read of what Ray's head says, and remembered while it says nothing."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from cluster.ray_host.link.membership import ClusterMembership, RayNode, read

from tests.contract.conftest import until


def row(ray_id: str, host: str, *, label: str = "", is_alive: bool = True, **has: float) -> Any:
    return {
        "NodeID": ray_id,
        "Alive": is_alive,
        "NodeManagerHostname": host,
        "Resources": {name.upper(): amount for name, amount in has.items()},
        "Labels": {"concertina.io/node": label} if label else {},
        "DeathReasonMessage": "" if is_alive else "it was cut off",
    }


def test_a_node_is_called_by_its_label_or_else_by_its_host() -> None:
    told = read([row("a", "host1", label="n1", cpu=4.0), row("b", "host2", gpu=8.0, cpu=64.0)])
    assert told.nodes == {
        "n1": RayNode(name="n1", ray_id="a", gpus=0, cpus=4),
        "host2": RayNode(name="host2", ray_id="b", gpus=8, cpus=64),
    }


def test_one_that_died_is_named_with_its_reason_until_it_is_back() -> None:
    dead = row("a", "n1", is_alive=False)
    assert read([dead]).absence_of("n1") == "Ray says that it is dead: it was cut off"
    assert read([dead, row("b", "n1")]).nodes["n1"].ray_id == "b"
    assert read([dead, row("b", "n1")]).why_not == {}


def test_two_of_one_name_are_both_left_alone() -> None:
    told = read([row("aaaaaaaaaa", "n1"), row("bbbbbbbbbb", "n1"), row("c", "n2")])
    assert set(told.nodes) == {"n2"}
    assert "aaaaaaaa and bbbbbbbb" in told.absence_of("n1")
    assert [node.name for node in told.alive] == ["n1", "n1", "n2"]


@pytest.mark.parametrize(("rows", "there"), [([], "none"), ([row("a", "n2")], "n2")])
def test_one_that_nobody_knows_is_told_with_those_there_are(rows: Any, there: str) -> None:
    assert f"it has: {there})" in read(rows).absence_of("n1")


def test_the_first_answer_is_waited_for_and_later_ones_are_not() -> None:
    goes_on = threading.Event()
    told = [[row("a", "n1")], [row("b", "n1")]]

    def ask_head() -> Any:
        rows = told.pop(0)
        if not told:
            goes_on.wait()
        return rows

    membership = ClusterMembership(ask_head=ask_head)
    first = membership.now(seconds=60.0)
    assert first is not None
    assert first.nodes["n1"].ray_id == "a"
    until(lambda: len(told) == 1 and not membership._is_asking)  # noqa: SLF001 - its thread is done
    assert membership.now(seconds=60.0) == first  # it hangs, and nobody waits
    assert membership.now(seconds=60.0) == first
    goes_on.set()
    until(lambda: membership._members != first)  # noqa: SLF001 - without asking once more


def test_a_head_that_never_answered_is_waited_for_in_bounds() -> None:
    never = threading.Event()
    membership = ClusterMembership(ask_head=lambda: never.wait() and [])
    assert membership.now(seconds=0.0) is None
    never.set()
