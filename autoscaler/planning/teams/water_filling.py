"""What is each team's fair share of a pool? Weighted max-min shares on the tree of teams.

GPUs are poured like water into vessels, first in the pool among its teams, then what each team got
among its own jobs and its sub-teams. Each vessel fills in layers, and no layer begins before every
sibling has filled the one below:

    floor       what its jobs hold and cannot give up
    entitled    min(demand, guarantee): vessels as wide as the guarantees
    kept        what its lending limits keep from others, used or idle
    surplus     up to min(demand, limit): vessels as wide as the weights

Within a layer the level rises alike in all vessels that are not full. So what a team leaves idle of
its guarantee goes to its siblings before it leaves the parent, and nobody gets more by asking for
more than it can use. GPUs are whole: remainders go to the largest fractions, then by name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from autoscaler.planning.teams.team_tree import POOL, TeamNode, TeamTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Weight = Callable[[TeamNode], float]

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What a team's own jobs want, and what of it they cannot give up, in GPUs."""

    demand: int = 0
    floor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """GPUs by team: for its own jobs, and for its whole subtree with what is kept idle."""

    own: Mapping[str, int]
    subtree: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vessel:
    """The tops of the four layers, ascending, and how wide the layers are."""

    name: str
    tops: tuple[float, float, float, float]
    widths: tuple[float, float, float, float]


@dataclass(slots=True, kw_only=True)
class _Filling:
    tree: TeamTree
    wants: Mapping[str, Want]
    weight: Weight
    vessels: dict[str, _Vessel] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)
    subtree: dict[str, int] = field(default_factory=dict)

    def own_vessel(self, node: TeamNode) -> _Vessel:
        """The team's own jobs, as a vessel among those of its sub-teams."""
        want = self.wants.get(node.name, Want())
        top = max(want.floor, want.demand)
        entitled = min(max(want.floor, node.own_guaranteed), top)
        return _Vessel(
            name=node.name,
            tops=(want.floor, entitled, entitled, top),
            widths=(want.floor, node.own_guaranteed, 0.0, 1.0),
        )

    def inside(self, node: TeamNode) -> list[_Vessel]:
        below = [self.vessels[child] for child in node.children]
        return [self.own_vessel(node), *below] if node.name != POOL else below

    def measure(self, node: TeamNode) -> None:
        """The vessel of a whole subtree, from those inside it."""
        inside = self.inside(node)
        floor = sum(vessel.tops[0] for vessel in inside)
        full = sum(vessel.tops[3] for vessel in inside)
        usable = max(floor, full if node.limit is None else min(full, node.limit))
        entitled = max(floor, min(usable, node.guaranteed))
        kept_inside = sum(vessel.tops[2] for vessel in inside)
        if node.limit is not None:
            kept_inside = min(kept_inside, node.limit)
        kept = max(entitled, node.kept, kept_inside)
        self.vessels[node.name] = _Vessel(
            name=node.name,
            tops=(floor, entitled, kept, max(kept, usable)),
            widths=(floor, node.guaranteed, kept - entitled, self.weight(node)),
        )

    def divide(self, node: TeamNode, gpus: int, *, layers: int) -> None:
        if node.name != POOL and not node.children:  # nobody to share with
            self.own[node.name] = min(gpus, int(self.own_vessel(node).tops[layers - 1]))
            return
        inside = self.inside(node)
        amounts = _whole(inside, _levels(inside, gpus, layers))
        if node.name != POOL:
            self.own[node.name] = amounts.pop(0)
        for child, amount in zip(node.children, amounts, strict=True):
            self.subtree[child] = amount


def fair_shares(
    tree: TeamTree,
    wants: Mapping[str, Want],
    *,
    gpus: int,
    weight: Weight = lambda node: node.weight,
    has_surplus: bool = True,
) -> Shares:
    """Divide `gpus` among the teams; without surplus, only what they are guaranteed.

    Cost: proportional to the teams times the logarithm of the most siblings.
    """
    filling = _Filling(tree=tree, wants=wants, weight=weight)
    nodes = list(tree.nodes.values())
    for node in nodes:
        filling.measure(node)
    for node in reversed(nodes):
        is_pool = node.name == POOL
        amount = gpus if is_pool else filling.subtree[node.name]
        filling.divide(node, amount, layers=4 if has_surplus or not is_pool else 3)
    return Shares(own=filling.own, subtree=filling.subtree)


def pour(amount: float, rooms: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Fill vessels of so much room and width to one level; whoever is full takes no more."""
    poured = [0.0] * len(rooms)
    open_ones = [i for i, width in enumerate(widths) if width > _ROUNDING and rooms[i] > 0]
    open_ones.sort(key=lambda i: (rooms[i] / widths[i], i))
    width = sum(widths[i] for i in open_ones)
    for i in open_ones:
        rise = amount / width if width > _ROUNDING else math.inf
        poured[i] = min(rooms[i], max(widths[i] * rise, 0.0))
        amount -= poured[i]
        width -= widths[i]
    return poured


def _levels(vessels: Sequence[_Vessel], gpus: float, layers: int) -> list[float]:
    levels = [0.0] * len(vessels)
    for layer in range(layers):
        rooms = [vessel.tops[layer] - level for vessel, level in zip(vessels, levels, strict=True)]
        poured = pour(gpus, rooms, [vessel.widths[layer] for vessel in vessels])
        levels = [level + more for level, more in zip(levels, poured, strict=True)]
        gpus = max(gpus - sum(poured), 0.0)
    return levels


def _whole(vessels: Sequence[_Vessel], levels: Sequence[float]) -> list[int]:
    """Largest remainders: the sum stays, nobody changes by a whole GPU, ties go by name."""
    whole = [math.floor(level + _ROUNDING) for level in levels]
    missing = round(sum(levels)) - sum(whole)
    order = sorted(
        range(len(levels)), key=lambda i: (round(whole[i] - levels[i], 9), vessels[i].name)
    )
    for i in order[:missing]:
        whole[i] += 1
    return whole
