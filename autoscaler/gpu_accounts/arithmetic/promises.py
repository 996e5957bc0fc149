"""What was each team promised for its own jobs? Read from quotas, which hold for whole subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autoscaler.gpu_accounts.arithmetic.history import Microseconds, TeamPromise
from autoscaler.gpu_accounts.arithmetic.stretches import stretches
from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.team_tree import TeamNode, TeamTree


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuota:
    """What was set for a team and all below it."""

    since: Microseconds
    until: Microseconds
    team: str
    parent: str = ""
    guaranteed: int = 0
    limit: int | None = None
    lending_limit: int | None = None


def promises_in(
    quotas: Iterable[PastQuota], *, since: Microseconds, until: Microseconds
) -> Iterator[TeamPromise]:
    """Yield what each team of a pool was promised, anew whenever any quota changed."""
    holding: dict[str, PastQuota] = {}
    for begins, ends, changes in stretches(quotas, since=since, until=until):
        for one in changes.ended:
            if holding.get(one.team) is one:
                del holding[one.team]
        holding.update((one.team, one) for one in changes.begun)
        tree = TeamTree.of(_as_planned(one) for one in holding.values())
        for team in holding:
            node = tree.nodes[team]
            if node.own_guaranteed:
                yield TeamPromise(
                    since=begins,
                    until=ends,
                    team=team,
                    guaranteed=node.own_guaranteed,
                    kept=_kept(node, tree),
                )


def _as_planned(one: PastQuota) -> TeamQuota:
    return TeamQuota(
        team=one.team,
        pool="",
        guaranteed_gpus=one.guaranteed,
        limit_gpus=one.limit,
        parent=one.parent or None,
        lending_limit_gpus=one.lending_limit,
    )


def _kept(node: TeamNode, tree: TeamTree) -> int:
    """What a team keeps for itself and all below it is first of what these are promised."""
    promised = sum(child.guaranteed for child in tree.children(node))
    return min(max(node.kept - promised, 0), node.own_guaranteed)
