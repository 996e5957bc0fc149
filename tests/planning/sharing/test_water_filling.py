"""Are shares weighted max-min on the tree of teams? Compared with slow, obvious ways of pouring."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.team_tree import POOL, TeamNode, TeamTree
from autoscaler.planning.teams.water_filling import Want, fair_shares, pour
from tests.campaigns import examples

MANY = examples(150)
NAMES = ("a", "b", "c", "d", "e", "f")


def quota(
    team: str,
    guaranteed: int = 0,
    limit: int | None = None,
    *,
    weight: float = 1.0,
    parent: str | None = None,
    lends: int | None = None,
) -> TeamQuota:
    return TeamQuota(
        team=team,
        pool="default",
        guaranteed_gpus=guaranteed,
        limit_gpus=limit,
        over_quota_weight=weight,
        parent=parent,
        lending_limit_gpus=lends,
    )


def shares(gpus: int, quotas: list[TeamQuota], **demands: int) -> dict[str, int]:
    wants = {team: Want(demand=demand) for team, demand in demands.items()}
    own = fair_shares(TeamTree.of(quotas), wants, gpus=gpus).own
    return {team: own[team] for team in demands}


EXPECTED: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "equal teams share equally": (
        shares(8, [quota("a"), quota("b")], a=9, b=9), {"a": 4, "b": 4}),
    "a guarantee comes first, the surplus is shared": (
        shares(8, [quota("a", 4), quota("b")], a=9, b=9), {"a": 6, "b": 2}),
    "surplus is poured by weight": (
        shares(8, [quota("a", weight=3), quota("b")], a=9, b=9), {"a": 6, "b": 2}),
    "who wants little leaves the rest to others": (
        shares(8, [quota("a", 4), quota("b")], a=1, b=9), {"a": 1, "b": 7}),
    "a limit caps a share": (
        shares(8, [quota("a", 2, 3), quota("b")], a=9, b=9), {"a": 3, "b": 5}),
    "a team of no weight gets its guarantee only": (
        shares(8, [quota("a", 2, weight=0), quota("b")], a=9, b=4), {"a": 2, "b": 4}),
    "what a team never lends stays idle": (
        shares(8, [quota("a", 4, lends=1), quota("b")], a=0, b=9), {"a": 0, "b": 5}),
    "a lending limit is no obstacle to the team itself": (
        shares(8, [quota("a", 4, lends=0), quota("b")], a=9, b=0), {"a": 8, "b": 0}),
    "a sibling, too, gets no more than is lent": (
        shares(8, [quota("p", 8), quota("a", 4, parent="p", lends=1), quota("b", parent="p")],
               a=0, b=9), {"a": 0, "b": 5}),
    "an idle guarantee goes to siblings before it leaves the parent": (
        shares(8, [quota("p", 6), quota("a", 3, parent="p"), quota("b", 3, parent="p"),
                   quota("x", 2)], a=0, b=9, x=9), {"a": 0, "b": 6, "x": 2}),
    "what siblings cannot use does leave it": (
        shares(8, [quota("p", 6), quota("a", 3, parent="p"), quota("b", 3, parent="p"),
                   quota("x", 2)], a=0, b=4, x=9), {"a": 0, "b": 4, "x": 4}),
    "a parent's limit bounds its subtree": (
        shares(12, [quota("p", 2, 6), quota("a", 1, parent="p"), quota("b", 1, parent="p"),
                    quota("x")], a=9, b=9, x=3), {"a": 3, "b": 3, "x": 3}),
    "a parent's weight counts once, however many children it has": (
        shares(12, [quota("p"), quota("a", parent="p"), quota("b", parent="p"), quota("x")],
               a=9, b=9, x=9), {"a": 3, "b": 3, "x": 6}),
    "what a parent is promised beyond its children is for its own jobs": (
        shares(8, [quota("p", 6), quota("a", 2, parent="p"), quota("x", 2)], p=9, a=9, x=9),
        {"p": 4, "a": 2, "x": 2}),
    "guarantees are cut in proportion where the pool is too small": (
        shares(6, [quota("a", 8), quota("b", 4)], a=9, b=9), {"a": 4, "b": 2}),
    "remainders go to the largest fractions, then by name": (
        shares(8, [quota("a"), quota("b"), quota("c")], a=9, b=9, c=9), {"a": 3, "b": 3, "c": 2}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", EXPECTED)
def test_fair_shares(sentence: str) -> None:
    found, expected = EXPECTED[sentence]
    assert found == expected


def test_a_circle_of_parents_is_cut() -> None:
    tree = TeamTree.of([quota("a", parent="b"), quota("b", parent="a"), quota("c", parent="c")])
    assert set(tree.nodes) == {"a", "b", "c", POOL}
    assert sum(len(node.children) for node in tree.nodes.values()) == 3


@MANY
@given(
    st.integers(0, 60),
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from((0, 1, 2, 5, 7))), max_size=8),
)
def test_pouring_equals_raising_the_level_bit_by_bit(
    amount: int, vessels: list[tuple[int, int]]
) -> None:
    rooms, widths = [float(v[0]) for v in vessels], [float(v[1]) for v in vessels]
    assert pour(amount, rooms, widths) == pytest.approx(slow_pour(amount, vessels))


def slow_pour(amount: int, vessels: list[tuple[int, int]]) -> list[float]:
    """Raise the level in fractions, exactly: always to where the next vessel is full."""
    left, filled = Fraction(amount), [Fraction(0)] * len(vessels)
    while True:
        growing = [i for i, (room, width) in enumerate(vessels) if width and filled[i] < room]
        if not growing or not left:
            return [float(amount) for amount in filled]
        width = sum(vessels[i][1] for i in growing)
        until_full = min((vessels[i][0] - filled[i]) / vessels[i][1] for i in growing)
        rise = min(left / width, until_full)
        for i in growing:
            filled[i] += rise * vessels[i][1]
        left -= rise * width


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[TeamQuota], dict[str, Want], int]:
    """Any settings, also such as promise more than the parent or the pool has."""
    count = draw(st.integers(1, len(NAMES)))
    quotas = []
    for number, team in enumerate(NAMES[:count]):
        above = draw(st.sampled_from((None, *NAMES[:number])))
        guaranteed = draw(st.integers(0, 6))
        limit = draw(st.sampled_from((None, None, guaranteed, guaranteed + 4, 20)))
        weight = draw(st.sampled_from((0.0, 0.5, 1.0, 1.0, 3.0)))
        lends = draw(st.sampled_from((None, None, 0, guaranteed // 2)))
        quotas.append(quota(team, guaranteed, limit, weight=weight, parent=above, lends=lends))
    wants = {team: Want(demand=draw(st.integers(0, 12))) for team in NAMES[:count]}
    return quotas, wants, draw(st.integers(0, 40))


@MANY
@given(trees())
def test_shares_equal_filling_drop_by_drop(
    case: tuple[list[TeamQuota], dict[str, Want], int],
) -> None:
    """Each drop goes to whoever is lowest, level by level; both ways agree within rounding."""
    quotas, wants, gpus = case
    tree = TeamTree.of(quotas)
    found = fair_shares(tree, wants, gpus=gpus)
    expected = DropByDrop(tree, wants).pour(gpus)
    depth = max(len(list(tree.path(team))) for team in wants)
    for team in wants:
        # Each division on the way down rounds by less than one GPU, and drops are of 1/20.
        assert abs(found.own[team] - expected[team]) < depth * (1 + len(NAMES) / 20) + 0.01


class DropByDrop:
    """A reference that knows no closed form: 1/20 GPU after the other, from the pool down."""

    def __init__(self, tree: TeamTree, wants: dict[str, Want]) -> None:
        self.tree, self.wants = tree, wants
        self.level: dict[tuple[str, str], float] = {}
        self.own = dict.fromkeys(wants, 0.0)

    def usable(self, node: TeamNode) -> float:
        inside = sum(self.takes(child) for child in self.tree.children(node))
        inside += self.wants[node.name].demand if node.name in self.wants else 0
        return inside if node.limit is None else min(inside, node.limit)

    def takes(self, node: TeamNode) -> float:
        return max(self.usable(node), self.keeps(node))

    def entitled(self, node: TeamNode) -> float:
        return min(self.usable(node), node.guaranteed)

    def keeps(self, node: TeamNode) -> float:
        """What is its own or kept, by its own lending limit or by those of teams below it."""
        inside = sum(self.keeps(child) for child in self.tree.children(node))
        if node.name in self.wants:
            inside += min(self.wants[node.name].demand, node.own_guaranteed)
        inside = inside if node.limit is None else min(inside, node.limit)
        return max(self.entitled(node), node.kept, inside)

    def layers(self, parent: TeamNode, name: str) -> list[tuple[float, float]]:
        """(top, width) of entitled, kept and surplus, of a child or of the parent's own jobs."""
        if name == parent.name:
            demand, width = self.wants[name].demand, parent.own_guaranteed
            return [(min(demand, width), width), (0, 0), (demand, 1.0)]
        node = self.tree.nodes[name]
        entitled = min(self.usable(node), node.guaranteed)
        return [
            (entitled, node.guaranteed),
            (node.kept, node.kept),
            (self.takes(node), node.weight),
        ]

    def pour(self, gpus: int) -> dict[str, float]:
        for _ in range(gpus * 20):
            node = self.tree.pool
            while (chosen := self.lowest(node)) is not None:
                self.level[node.name, chosen] = self.level.get((node.name, chosen), 0.0) + 0.05
                if chosen == node.name:
                    self.own[chosen] += 0.05
                    break
                node = self.tree.nodes[chosen]
        return self.own

    def lowest(self, node: TeamNode) -> str | None:
        names = [*node.children, *([node.name] if node.name in self.wants else [])]
        for layer in range(3):
            levels = {}
            for name in names:
                tops = self.layers(node, name)
                below = max((top for top, _ in tops[:layer]), default=0.0)
                top, width = max(tops[layer][0], below), tops[layer][1]
                level = self.level.get((node.name, name), 0.0)
                if level < top - 1e-6 and width > 0:
                    levels[name] = (max(level - below, 0.0)) / width
            if levels:
                return min(levels, key=lambda name: (levels[name], name))
        return None


@MANY
@given(trees())
def test_the_sum_is_conserved_and_bounds_are_kept(
    case: tuple[list[TeamQuota], dict[str, Want], int],
) -> None:
    quotas, wants, gpus = case
    tree = TeamTree.of(quotas)
    found = fair_shares(tree, wants, gpus=gpus)
    top = {node.name: found.subtree[node.name] for node in tree.children(tree.pool)}
    assert sum(top.values()) <= gpus
    for node in tree.nodes.values():
        if node.name == POOL:
            continue
        inside = found.own[node.name] + sum(found.subtree[child] for child in node.children)
        assert inside <= found.subtree[node.name]
        assert 0 <= found.own[node.name] <= wants[node.name].demand
        assert node.limit is None or inside <= max(node.limit, 0)
    kept = sum(max(tree.nodes[team].kept - top[team], 0) for team in top)
    wanted = DropByDrop(tree, wants)
    if all(node.weight > 0 for node in tree.nodes.values()):
        most = sum(wanted.takes(node) for node in tree.children(tree.pool))
        assert sum(top.values()) == min(gpus, most)
        assert kept == 0 or sum(top.values()) == gpus


@MANY
@given(trees(), st.sampled_from(NAMES), st.integers(1, 20))
def test_no_team_gains_by_stating_more_than_it_can_use(
    case: tuple[list[TeamQuota], dict[str, Want], int], liar: str, more: int
) -> None:
    quotas, wants, gpus = case
    if liar not in wants:
        return
    tree = TeamTree.of(quotas)
    honest = fair_shares(tree, wants, gpus=gpus).own[liar]
    lie = wants | {liar: replace(wants[liar], demand=wants[liar].demand + more)}
    told = fair_shares(tree, lie, gpus=gpus).own[liar]
    assert min(told, wants[liar].demand) <= honest


@MANY
@given(trees())
def test_every_own_guarantee_is_met_where_promises_are_kept(
    case: tuple[list[TeamQuota], dict[str, Want], int],
) -> None:
    quotas, wants, gpus = case
    quotas = [replace(one, limit_gpus=None) for one in quotas]
    tree = TeamTree.of(quotas)
    found = fair_shares(tree, wants, gpus=max(gpus, tree.pool.guaranteed))
    for team, want in wants.items():
        assert found.own[team] >= min(want.demand, tree.nodes[team].own_guaranteed)


def test_shares_of_a_thousand_teams_are_conserved() -> None:
    rng = random.Random(1)  # noqa: S311 - no secret
    quotas = [
        quota(f"t{i:04}", rng.randint(0, 3), parent=f"t{i // 10:04}" if i >= 10 else None)
        for i in range(1000)
    ]
    tree = TeamTree.of(quotas)
    wants = {one.team: Want(demand=rng.randint(0, 9)) for one in quotas}
    found = fair_shares(tree, wants, gpus=4096)
    assert sum(found.own.values()) == min(4096, sum(t.demand for t in wants.values()))
