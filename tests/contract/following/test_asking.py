"""When a pool asks for one more machine, and which node it gives back: decided on plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cluster.following.asking import (
    AskingNode,
    AskingOutcome,
    AskingPool,
    AskingRules,
    OpenRequest,
    decide_about_machines,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
RULES = AskingRules(
    nodes_min=0,
    nodes_max=3,
    gpus_per_node=8,
    worth_a_node=None,
    patience=timedelta(seconds=60),
    idle=timedelta(minutes=10),
    nodes_per_hour=2,
)


def ago(**given: float) -> datetime:
    return NOW - timedelta(**given)


def node(name: str = "n1", **given: Any) -> AskingNode:
    return AskingNode(**{"name": name, "is_busy": True, **given})


def idle(name: str, *, minutes: float = 10.0, **given: Any) -> AskingNode:
    return node(name, is_busy=False, idle_since=ago(minutes=minutes), **given)


def silent(name: str = "n2", *, minutes: float = 10.0, **given: Any) -> AskingNode:
    known = {"takes_work": False, "is_busy": False, "silent_since": ago(minutes=minutes)}
    return node(name, **{**known, "why_closed": "no torch there", **given})


def leaving(name: str = "n2", **given: Any) -> AskingNode:
    closed = {"takes_work": False, "is_busy": False, "giving_back_since": ago(seconds=5)}
    return node(name, **{**closed, **given})


def asked(*, minutes: float = 1.0, **given: Any) -> OpenRequest:
    return OpenRequest(asked_at=ago(minutes=minutes), **given)


def brought(*, minutes: float = 1.0) -> OpenRequest:
    return asked(minutes=minutes + 1.0, machine="n9", brought_at=ago(minutes=minutes))


def decided(*nodes: AskingNode, rules: AskingRules | None = RULES, **given: Any) -> AskingOutcome:
    pool = AskingPool(name="h100", nodes=nodes, **{"rules": rules, **given})
    return decide_about_machines(pool, NOW)


def steps(outcome: AskingOutcome) -> list[tuple[str, str]]:
    return [(step.action.value, step.node) for step in outcome.steps]


WAITS: dict[str, Any] = {"startable_jobs": 1, "need_since": ago(seconds=60)}
PRICED = replace(RULES, worth_a_node=2.0)
NEW: dict[str, Any] = {"startable_jobs": 1}
AT_LEAST_TWO = replace(RULES, nodes_min=2)

CASES: dict[str, tuple[AskingOutcome, list[tuple[str, str]]]] = {
    "nothing is needed and nothing idle": (decided(node()), []),
    # asking
    "a need is new": (decided(node(), **NEW), []),
    "a job has waited as long as the pool is patient": (decided(node(), **WAITS), [("asked", "")]),
    "the pool has no node at all, and a job waits": (decided(**WAITS), [("asked", "")]),
    "a job waits, and there are as many nodes as may be": (
        decided(node("n1"), node("n2"), node("n3"), **WAITS),
        [],
    ),
    "a machine that cannot be a node counts against the most": (
        decided(node("n1"), node("n2"), unused_machines=1, **WAITS),
        [],
    ),
    "as many were asked for within an hour as may be": (
        decided(node(), asked_lately=2, **WAITS),
        [],
    ),
    "one was given back a moment ago": (
        decided(node(), given_back_at=ago(seconds=59), **WAITS),
        [],
    ),
    "one was given back a while ago": (
        decided(node(), given_back_at=ago(seconds=60), **WAITS),
        [("asked", "")],
    ),
    "there are fewer nodes than the fewest, since now": (
        decided(node(), rules=AT_LEAST_TWO),
        [("asked", "")],
    ),
    "a GPU more is worth more than a node is": (
        decided(node(), rules=PRICED, price=2.1, need_since=ago(seconds=60)),
        [("asked", "")],
    ),
    "a GPU more is worth as much as a node is": (
        decided(node(), rules=PRICED, price=2.0, need_since=ago(seconds=60)),
        [],
    ),
    "a GPU more is worth a lot, and nobody said what a node is": (
        decided(node(), price=1e6, need_since=ago(seconds=60)),
        [],
    ),
    # what was asked for
    "it was asked for, and is needed": (decided(node(), request=asked(), **WAITS), []),
    "it was asked for, and is needed no more": (
        decided(node(), request=asked()),
        [("withdrawn", "")],
    ),
    "it was asked for, and another machine came": (
        decided(node("n1"), node("n2"), node("n3"), request=asked(), **WAITS),
        [("withdrawn", "")],
    ),
    "none came for ten minutes": (
        decided(node(), request=asked(minutes=10.0), **WAITS),
        [("late", "")],
    ),
    "that none came was told": (
        decided(node(), request=asked(minutes=60.0, is_told_late=True), **WAITS),
        [],
    ),
    "what was brought is no node yet": (decided(node(), request=brought(), **WAITS), []),
    "what was brought takes no work yet": (
        decided(node(), node("n9", takes_work=False), request=brought(), **WAITS),
        [],
    ),
    "what was brought takes work": (
        decided(node(), node("n9"), request=brought()),
        [("arrived", "n9")],
    ),
    "what was brought takes no work for long": (
        decided(node(), node("n9", takes_work=False), request=brought(minutes=10.0), **WAITS),
        [("unusable", "n9")],
    ),
    "nothing is given back while something is asked for": (
        decided(idle("n1"), request=asked(), **NEW),
        [],
    ),
    # giving back
    "a node has been idle for long enough": (decided(idle("n1")), [("closed", "n1")]),
    "a node has been idle for a moment": (decided(idle("n1", minutes=9.9)), []),
    "of several, the one that has been idle for longest goes": (
        decided(idle("n1"), idle("n2", minutes=11.0), node("n3")),
        [("closed", "n2")],
    ),
    "an idle node is one of the fewest": (
        decided(idle("n1"), node("n2"), rules=AT_LEAST_TWO),
        [],
    ),
    "an idle node is not needed, but a need is new": (decided(idle("n1"), **NEW), []),
    "as many were given back within an hour as may be": (
        decided(idle("n1"), given_back_lately=2),
        [],
    ),
    "an admin has closed an idle node": (decided(idle("n1", takes_work=False)), []),
    "the cluster takes an idle node by itself": (decided(idle("n1", is_there=False)), []),
    "a closed node is released in the next tick": (
        decided(node(), leaving()),
        [("given_back", "n2")],
    ),
    "something came to a closed node": (decided(node(), leaving(is_busy=True)), []),
    "a released node is the cluster's to take": (decided(node(), leaving(is_released=True)), []),
    "one that is being given back counts no more": (
        decided(idle("n1"), leaving(is_released=True), rules=replace(RULES, nodes_min=1)),
        [],
    ),
    "a need takes back what was closed, at once": (
        decided(node(), leaving(), **NEW),
        [("taken_back", "n2")],
    ),
    "a need takes back what was released, before it asks": (
        decided(node(), leaving(is_released=True), **WAITS),
        [("taken_back", "n2")],
    ),
    "what is not released yet comes first": (
        decided(leaving("n1", is_released=True), leaving("n2"), **NEW),
        [("taken_back", "n2")],
    ),
    "the cluster has taken it already": (
        decided(node(), leaving(is_released=True, is_there=False), **WAITS),
        [("asked", "")],
    ),
    "an idle node stays while a machine is needed that may come": (
        decided(node("n1"), idle("n2"), **WAITS),
        [("asked", "")],
    ),
    "an idle node is no help to who waits for more than may come": (
        decided(node("n1"), node("n2"), idle("n3"), **WAITS),
        [("closed", "n3")],
    ),
    # nodes that are of no use
    "a node has taken no work for long": (decided(node(), silent()), [("closed", "n2")]),
    "a node has taken no work for a moment": (decided(node(), silent(minutes=9.0)), []),
    "a node that takes no work goes whatever is needed": (
        decided(node("n1"), silent(), rules=replace(RULES, nodes_max=2), **WAITS),
        [("closed", "n2")],
    ),
    "one goes while another is asked for": (
        decided(node("n1"), silent(), request=asked(), **WAITS),
        [("closed", "n2")],
    ),
    "a job has GPUs of it": (decided(node(), silent(is_busy=True)), []),
    "an admin has closed it": (decided(node(), silent(is_cordoned=True)), []),
    "the cluster takes it by itself": (decided(node(), silent(is_there=False)), []),
    "none of the fewest takes work": (
        decided(silent("n1"), silent("n2"), rules=AT_LEAST_TWO),
        [],
    ),
    "one of the fewest takes work, and another is to come for the other": (
        decided(node("n1"), silent("n2"), rules=AT_LEAST_TWO),
        [("closed", "n2")],
    ),
    "another is asked for in its place": (
        decided(node("n1"), leaving(is_unfit=True, is_released=True), **WAITS),
        [("asked", "")],
    ),
    "it is tried again after an hour": (
        decided(node("n1"), leaving(is_unfit=True, giving_back_since=ago(hours=1)), **WAITS),
        [("taken_back", "n2")],
    ),
    # nobody knows what the pool needs
    "nothing is asked for or withdrawn": (
        decided(idle("n1"), request=asked(), is_planned=False),
        [],
    ),
    "what came and is of no use is told, and goes": (
        decided(silent("n9", minutes=11.0), request=brought(minutes=11.0), is_planned=False),
        [("unusable", "n9"), ("closed", "n9")],
    ),
    "what was closed is released": (
        decided(node(), leaving(), is_planned=False),
        [("given_back", "n2")],
    ),
    # a pool that asks no more
    "it asks no more, and has asked": (
        decided(node(), rules=None, request=asked()),
        [("withdrawn", "")],
    ),
    "it asks no more, and was giving one back": (
        decided(node(), leaving(is_released=True), rules=None),
        [("taken_back", "n2")],
    ),
    "it asks no more, and nodes are idle": (decided(idle("n1"), rules=None), []),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pool_asks_and_gives_back(case: str) -> None:
    outcome, expected = CASES[case]
    assert steps(outcome) == expected


@pytest.mark.parametrize("case", CASES)
def test_each_step_has_a_reason(case: str) -> None:
    outcome, _ = CASES[case]
    assert all(step.reason for step in outcome.steps)


def test_reasons_say_the_numbers() -> None:
    (step,) = decided(node(), nodes_to_start=2, **{**WAITS, "startable_jobs": 3}).steps
    assert step.reason == "3 waiting jobs would start on 2 more nodes"
    numbers = {"nodes": 1, "nodes_max": 3, "startable_jobs": 3, "needed_for_seconds": 60.0}
    assert step.numbers == numbers
    (step,) = decided(node(), rules=PRICED, price=2.5, need_since=ago(seconds=90)).steps
    assert step.reason == "one more GPU would add 2.5, more than worth_a_node (2)"
    (step,) = decided(idle("n1", minutes=12.0)).steps
    assert step.reason == "nothing has run there for 12 minutes"


def test_what_hinders_is_told() -> None:
    full = decided(node("n1"), node("n2"), node("n3"), **WAITS)
    assert full.note.endswith("and it has nodes_max (3).")
    assert "which is nodes_per_hour" in decided(node(), asked_lately=2, **WAITS).note
    assert "which is nodes_per_hour" in decided(idle("n1"), given_back_lately=2).note


def test_a_need_begins_once_and_ends() -> None:
    assert decided(node(), **NEW).need_since == NOW
    assert decided(node(), **WAITS).need_since == WAITS["need_since"]
    assert decided(node(), need_since=ago(seconds=5)).need_since is None


def test_what_nobody_knows_stays_as_it_was() -> None:
    outcome = decided(node(), is_planned=False, need_since=ago(seconds=5), note="It is full.")
    assert (outcome.need_since, outcome.note) == (ago(seconds=5), "It is full.")


def test_a_clock_that_is_put_back_makes_a_need_new() -> None:
    later = NOW + timedelta(days=1)
    assert decided(node(), need_since=later, **NEW).need_since == NOW


def test_a_machine_is_asked_for_once_and_another_after_it_came() -> None:
    """A whole story: nobody asks twice, whatever the pool still needs."""
    pool = AskingPool(name="h100", rules=RULES, startable_jobs=2, need_since=ago(minutes=5))
    told = []
    for change in (
        {},
        {"request": asked(minutes=0.0)},
        {"request": brought(minutes=0.0)},
        {"nodes": (node("n9", takes_work=False),)},
        {"nodes": (node("n9"),)},
        {"request": None},
    ):
        pool = replace(pool, **change)
        told.append(steps(decide_about_machines(pool, NOW)))
    empty: list[tuple[str, str]] = []
    arrives = [("arrived", "n9")]
    assert told == [[("asked", "")], empty, empty, empty, arrives, [("asked", "")]]
