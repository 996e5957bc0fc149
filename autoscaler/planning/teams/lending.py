"""Who borrows from whom, of what the teams of a pool hold? A parent's numbers are its own jobs'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoscaler.planning.teams.team_tree import TeamNode, TeamTree


def borrowed_gpus(node: TeamNode, held: Mapping[str, int]) -> int:
    """Return what a team holds beyond its guarantee."""
    return max(held[node.name] - node.own_guaranteed, 0)


def lent_gpus(tree: TeamTree, held: Mapping[str, int], *, gpus: int) -> Mapping[str, int]:
    """Return who lends how much. Borrowers use unguaranteed GPUs first, then the idlest team's."""
    nodes = [tree.nodes[team] for team in held]
    unguaranteed = max(gpus - tree.pool.guaranteed, 0)
    borrowed = sum(borrowed_gpus(node, held) for node in nodes)
    idle = {n.name: max(n.own_guaranteed - held[n.name], 0) for n in nodes}
    lent = dict.fromkeys(idle, 0)
    for _ in range(min(max(borrowed - unguaranteed, 0), sum(idle.values()))):
        team = max(idle, key=lambda name: idle[name] - lent[name])
        lent[team] += 1
    return lent
