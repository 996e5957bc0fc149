"""How much does what a team used before count against it when GPUs are lent?

A team's weight is lowered by the usage of the past, halved every half-life:

    weight' = weight / (1 + usage_weight x share of its siblings' usage / share of their weights)

so a team that used its due counts with weight / (1 + usage_weight), one that used twice its due
with weight / (1 + 2 x usage_weight); KAI-Scheduler and Kueue do it in a like manner. A job is
charged for `ENTRY_SECONDS` of its smallest size the moment it is admitted, until it has used more:
Kueue's entry penalty, so that a team that submits in bulk cannot outrun the accounting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.teams.team_tree import TeamNode, TeamTree

ENTRY_SECONDS: Final = 600.0  # guessed: longer than usage takes to be accounted


@dataclass(slots=True, kw_only=True)
class TeamUsage:
    """GPU-seconds by team and subtree, with what the jobs admitted so far are charged."""

    tree: TeamTree
    usage_weight: float
    gpus: int
    _charged: dict[str, float] = field(default_factory=dict)
    _siblings: dict[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, tree: TeamTree, running: Iterable[Demand], *, usage_weight: float, gpus: int
    ) -> TeamUsage:
        usage = cls(tree=tree, usage_weight=usage_weight, gpus=gpus)
        usage._charged = {node.name: node.usage for node in tree.nodes.values()}
        if usage_weight > 0:
            for demand in running:
                usage.charge(demand)
            usage._siblings = {
                node.name: usage._all_below(node) for node in tree.nodes.values() if node.children
            }
        return usage

    def charge(self, demand: Demand) -> None:
        if self.usage_weight <= 0:
            return
        entry = ENTRY_SECONDS * demand.smallest_gpus
        charge = max(entry - demand.job.attained_gpu_seconds, 0.0)
        for node in self.tree.path(demand.job.team):
            self._charged[node.name] += charge

    def weight(self, node: TeamNode) -> float:
        """The weight of a team among its siblings, lowered by usage."""
        if self.usage_weight <= 0 or node.parent is None or node.weight <= 0:
            return node.weight
        usage, weights = self._siblings[node.parent]
        times_its_due = (self._charged[node.name] / usage) * (weights / node.weight)
        return node.weight / (1 + self.usage_weight * times_its_due)

    def _all_below(self, node: TeamNode) -> tuple[float, float]:
        """Usage and weights of all children; an idle past counts as one full entry of the pool."""
        children = self.tree.children(node)
        usage = sum(self._charged[child.name] for child in children)
        return max(usage, self.gpus * ENTRY_SECONDS, 1.0), sum(child.weight for child in children)
