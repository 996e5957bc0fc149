"""What of a pool is a team's own, what is fair now, and what is lent?

This is the planner's water-filling, over what teams want and hold at this moment. A parent's
numbers are those of its own jobs; its children's guarantees are theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autoscaler.planning.fair_share.usage import TeamUsage
from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.lending import borrowed_gpus, lent_gpus
from autoscaler.planning.teams.team_tree import TeamTree
from autoscaler.planning.teams.water_filling import Want, fair_shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a team's own jobs want and have of one pool, in GPUs."""

    demand: int = 0  # what its live jobs could use at most
    allocated: int = 0
    waiting: int = 0  # what its waiting jobs ask for at least


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """One team's share of a pool, and where its GPUs come from or go."""

    team: str
    guaranteed: int
    limit: int | None
    fair_share: int
    allocated: int
    borrowed: int
    lent: int
    reserved: int  # of its guarantee, idle and never lent
    pending_request: int
    reclaim_exposure: int  # what it would have to give back if every team wanted its claim
    usage_decayed: float  # GPU-seconds of the past, halved every half-life
    share_rank: int  # 1 = borrows next


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingRules:
    """The settings of a pool that decide how surplus is shared."""

    usage_weight: float = 0.0
    reclaims_fair_share: bool = False


def pool_shares(
    quotas: Sequence[TeamQuota],
    holdings: Mapping[str, Holding],
    *,
    gpus: int,
    rules: SharingRules,
) -> list[PoolShare]:
    """Return each team's share of a pool of so many GPUs, in the order of the quotas."""
    tree = TeamTree.of(quotas)
    held = {quota.team: holdings.get(quota.team, Holding()) for quota in quotas}
    usage = TeamUsage.of(tree, (), usage_weight=rules.usage_weight, gpus=gpus)
    wants = {team: Want(demand=one.demand) for team, one in held.items()}
    shares = fair_shares(tree, wants, gpus=gpus).own
    claims = _claims_of_all(tree, held, gpus=gpus, rules=rules)
    allocated = {team: one.allocated for team, one in held.items()}
    lent = lent_gpus(tree, allocated, gpus=gpus)
    ranks = _ranks(tree, allocated, usage)
    allocated_inside = _inside(tree, held)
    return [
        PoolShare(
            team=quota.team,
            guaranteed=quota.guaranteed_gpus,
            limit=quota.limit_gpus,
            fair_share=shares[quota.team],
            allocated=held[quota.team].allocated,
            borrowed=borrowed_gpus(tree.nodes[quota.team], allocated),
            lent=lent[quota.team],
            reserved=max(tree.nodes[quota.team].kept - allocated_inside[quota.team], 0),
            pending_request=held[quota.team].waiting,
            reclaim_exposure=max(held[quota.team].allocated - claims[quota.team], 0),
            usage_decayed=tree.nodes[quota.team].usage,
            share_rank=ranks[quota.team],
        )
        for quota in quotas
    ]


def _claims_of_all(
    tree: TeamTree,
    held: Mapping[str, Holding],
    *,
    gpus: int,
    rules: SharingRules,
) -> Mapping[str, int]:
    """Return what each team could keep if all wanted as much as they may have."""
    greedy = {team: Want(demand=gpus) for team in held}
    claims = fair_shares(tree, greedy, gpus=gpus, has_surplus=rules.reclaims_fair_share).own
    if rules.reclaims_fair_share:
        return claims
    unguaranteed = max(gpus - tree.pool.guaranteed, 0)  # nobody may take these back
    return {team: claim + unguaranteed for team, claim in claims.items()}


def _inside(tree: TeamTree, held: Mapping[str, Holding]) -> Mapping[str, int]:
    inside: dict[str, int] = {}
    for name, node in tree.nodes.items():
        own = held[name].allocated if name in held else 0
        inside[name] = own + sum(inside[child] for child in node.children)
    return inside


def _ranks(tree: TeamTree, held: Mapping[str, int], usage: TeamUsage) -> Mapping[str, int]:
    """Rank teams: whoever borrows least for its weight, lowered by usage, comes first."""

    def claim(team: str) -> tuple[float, str]:
        node = tree.nodes[team]
        return ((borrowed_gpus(node, held) + 1) / max(usage.weight(node), 1e-9), team)

    return {team: rank for rank, team in enumerate(sorted(held, key=claim), 1)}
