"""What makes one set-up into another, and is that all? Random set-ups, with pure functions."""

from __future__ import annotations

from typing import Any

import pytest
from control_plane.setup.changes import SetupAction, SetupChange, after, changes_between, removal_of
from control_plane.setup.nesting import flattened, nested
from control_plane.setup.objects import SetupKey, SetupKind, SetupObjects, version_of
from control_plane.setup.rules import MOST_LEVELS, faults_of
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns import examples

POOL: dict[str, Any] = {
    "gpu_type": "slot",
    "policy_options": {},
    "fair_share.half_life_hours": 48.0,
    "fair_share.reclaim_target": "guarantee",
}
NODE: dict[str, Any] = {"gpus": None, "address": "127.0.0.1", "gpu_uuids": []}
TEAM: dict[str, Any] = {
    "parent": None,
    "network": "isolated",
    "reachable": [],
    "limits.max_running_jobs": None,
}
QUOTA: dict[str, Any] = {"guaranteed_gpus": 0, "limit_gpus": None, "lending_limit_gpus": None}
DEFAULTS: dict[SetupKind, dict[str, Any]] = {
    SetupKind.POOL: POOL,
    SetupKind.NODE: NODE,
    SetupKind.PREFETCHED_IMAGE: {},
    SetupKind.TEAM: TEAM,
    SetupKind.QUOTA: QUOTA,
    SetupKind.IMAGE_RULE: {},
}
NAMES = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def set_ups(draw: st.DrawFn) -> SetupObjects:
    """Objects that name one another as they may."""
    pools = sorted(draw(st.sets(NAMES)))
    teams = sorted(draw(st.sets(NAMES)))
    found: dict[SetupKey, dict[str, Any]] = {}
    for pool in pools:
        options = draw(st.dictionaries(NAMES, st.integers(0, 2), max_size=1))
        hours = draw(st.sampled_from([24.0, 48.0]))
        own = {**POOL, "policy_options": options, "fair_share.half_life_hours": hours}
        found[SetupKey(SetupKind.POOL, "", pool)] = own
        for image in draw(st.sets(NAMES)):
            found[SetupKey(SetupKind.PREFETCHED_IMAGE, pool, image)] = {}
    if pools:
        for node in draw(st.sets(NAMES)):
            own = {**NODE, "gpus": draw(st.integers(1, 3)), "pool": draw(st.sampled_from(pools))}
            found[SetupKey(SetupKind.NODE, "", node)] = own
    for index, team in enumerate(teams):
        parent = draw(st.sampled_from([None, *teams[:index]]))
        most = draw(st.sampled_from([None, 1, 2]))
        own = {**TEAM, "parent": parent, "limits.max_running_jobs": most}
        found[SetupKey(SetupKind.TEAM, "", team)] = own
        for pool in draw(st.sets(st.sampled_from(pools))) if pools else ():
            own = {**QUOTA, "guaranteed_gpus": draw(st.integers(0, 2))}
            found[SetupKey(SetupKind.QUOTA, team, pool)] = own
    for of in ("", *teams):
        for pattern in draw(st.sets(NAMES, max_size=2)):
            found[SetupKey(SetupKind.IMAGE_RULE, of, pattern)] = {}
    return found


@examples(200)
@given(set_ups())
def test_an_export_says_all_and_changes_nothing(objects: SetupObjects) -> None:
    document = nested(objects)
    wanted = flattened(document)
    assert wanted.objects == objects
    for removes_others in (False, True):
        plan = changes_between(objects, wanted, removes_others=removes_others)
        assert (plan.changes, plan.kept) == ((), ())
    assert nested(wanted.objects) == document


@examples(200)
@given(set_ups(), set_ups())
def test_with_others_removed_any_set_up_becomes_any_other(
    current: SetupObjects, target: SetupObjects
) -> None:
    wanted = flattened(nested(target))
    plan = changes_between(current, wanted, removes_others=True)
    assert after(current, plan.changes, DEFAULTS) == target
    assert (plan.changes == ()) == (version_of(current) == version_of(target))


@examples(200)
@given(set_ups(), set_ups())
def test_otherwise_nothing_goes_and_what_stays_is_named(
    current: SetupObjects, target: SetupObjects
) -> None:
    wanted = flattened(nested(target))
    plan = changes_between(current, wanted)
    made = after(current, plan.changes, DEFAULTS)
    assert made == {**current, **target}
    assert SetupAction.REMOVED not in {one.action for one in plan.changes}
    again = changes_between(made, wanted)
    assert again.changes == ()
    assert set(again.kept) == set(plan.kept) <= current.keys() - target.keys()


@examples(100)
@given(set_ups())
def test_what_is_removed_leaves_nothing_that_names_it(objects: SetupObjects) -> None:
    for key in objects:
        made = after(objects, removal_of(objects, key).changes, DEFAULTS)
        assert key not in made
        assert {one.of for one in made} <= {"", *(one.name for one in made)}
        assert flattened(nested(made)).objects == made


def team(name: str, **fields: Any) -> tuple[SetupKey, dict[str, Any]]:
    return SetupKey(SetupKind.TEAM, "", name), {**TEAM, **fields}


def pool_with(gpus: int) -> dict[SetupKey, dict[str, Any]]:
    return {
        SetupKey(SetupKind.POOL, "", "a"): POOL,
        SetupKey(SetupKind.NODE, "", "n"): {**NODE, "pool": "a", "gpus": gpus},
    }


def promised(name: str, gpus: int) -> dict[SetupKey, dict[str, Any]]:
    key, fields = team(name)
    return {key: fields, SetupKey(SetupKind.QUOTA, name, "a"): {**QUOTA, "guaranteed_gpus": gpus}}


def chain(length: int) -> dict[SetupKey, dict[str, Any]]:
    return dict(
        team(f"t{number}", parent=f"t{number - 1}" if number else None) for number in range(length)
    )


CASES: dict[str, tuple[SetupObjects, list[str]]] = {
    "guarantees that the pool has": ({**pool_with(4), **promised("x", 4)}, []),
    "more than the pool has": (
        {**pool_with(4), **promised("x", 3), **promised("y", 2)},
        ["pools.a"],
    ),
    "a quota of no pool": (promised("x", 1), ["teams.x.quotas.a"]),
    "a parent that is not there": (dict([team("x", parent="y")]), ["teams.x.parent"]),
    "a circle": (dict([team("x", parent="y"), team("y", parent="x")]), ["teams.x.parent"]),
    "a team below itself": (dict([team("x", parent="x")]), ["teams.x.parent"]),
    "as deep as may be": (chain(MOST_LEVELS + 1), []),
    "too deep": (chain(MOST_LEVELS + 2), [f"teams.t{MOST_LEVELS + 1}.parent"]),
    "an empty list of hosts": (dict([team("x", network="listed")]), ["teams.x.reachable"]),
    "a node without GPUs": (
        {
            SetupKey(SetupKind.POOL, "", "a"): POOL,
            SetupKey(SetupKind.NODE, "", "n"): {**NODE, "pool": "a"},
        },
        ["pools.a.nodes.n.gpus"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_is_named_by_its_place(case: str) -> None:
    objects, places = CASES[case]
    changes = changes_between({}, flattened(nested(objects))).changes
    assert [one.field for one in faults_of(objects, changes)] == places


def test_a_pool_that_lost_nodes_stands_against_no_other_change() -> None:
    objects = {**pool_with(1), **promised("x", 3)}
    other = SetupChange(key=SetupKey(SetupKind.IMAGE_RULE, "", "*"), action=SetupAction.CREATED)
    assert faults_of(objects, [other]) == []


TRUST = "teams_trust_each_other"
DISTRUSTING = {SetupKey(SetupKind.POOL, "", "a"): {**POOL, TRUST: False}}
ALONE: SetupObjects = {**pool_with(4), **promised("x", 1), **DISTRUSTING}
TWO: SetupObjects = {**ALONE, **promised("y", 1)}
TRUSTING = {SetupKey(SetupKind.POOL, "", "a"): {**POOL, TRUST: True}}
SECOND_TEAMS: dict[str, tuple[SetupObjects, SetupObjects, list[str]]] = {
    "one team": ({}, ALONE, []),
    "a second one": (ALONE, TWO, ["teams.y.quotas.a"]),
    "two at once": ({}, TWO, ["teams.x.quotas.a", "teams.y.quotas.a"]),
    "two that trust each other": (ALONE, {**TWO, **TRUSTING}, []),
    "the trust of two is withdrawn": ({**TWO, **TRUSTING}, TWO, [f"pools.a.{TRUST}"]),
    "the trust of one is withdrawn": ({**ALONE, **TRUSTING}, ALONE, []),
    "what was so before": (TWO, {**TWO, **promised("y", 2)}, []),
}


@pytest.mark.parametrize("case", SECOND_TEAMS)
def test_a_pool_for_one_team_gets_no_second_one(case: str) -> None:
    before, objects, places = SECOND_TEAMS[case]
    changes = changes_between(before, flattened(nested(objects))).changes
    assert faults_of(objects, changes) == []
    found = faults_of(objects, changes, why_for_one_team="they are one user")
    assert [one.field for one in found] == places
    assert all("they are one user" in one.remedy for one in found)


def test_a_node_in_two_pools_is_there_twice() -> None:
    document = {"pools": {"a": {"nodes": {"n": {"gpus": 1}}}, "b": {"nodes": {"n": {"gpus": 1}}}}}
    assert flattened(document).named_twice == ("pools.b.nodes.n",)


def test_a_quota_that_is_named_of_a_pool_that_is_not_is_told_of() -> None:
    current = {**pool_with(4), **promised("x", 1)}
    document = nested(current)
    wanted = flattened({**document, "pools": {}})
    changes = changes_between(current, wanted, removes_others=True).changes
    objects = after(current, changes, DEFAULTS)
    assert [one.field for one in faults_of(objects, changes)] == ["teams.x.quotas.a"]
