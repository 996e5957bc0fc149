"""What share of a pool does each team have now? This reads what `sharing_arithmetic` needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from cluster.nodes.queries import PoolSize
from tenancy.models import FairShareSettings

from autoscaler.control_loop.observe.for_planner.team_quotas import team_quotas
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget
from control_plane.queries.sharing_arithmetic import Holding, SharingRules, pool_shares
from jobs.queries import gpu_demand


def shares_in(size: PoolSize) -> list[dict[str, Any]]:
    """Return a row per team, by name, with the fields of `PoolShare`."""
    settings = FairShareSettings.by_pool()[size.pool.pk]
    holdings = {
        team: Holding(demand=one.wanted, allocated=one.allocated, waiting=one.waiting)
        for team, one in gpu_demand.by_team_name(size.pool.pk).items()
    }
    rows = pool_shares(
        [quota for quota in team_quotas() if quota.pool == size.pool.name],
        holdings,
        gpus=size.gpus,
        rules=SharingRules(
            usage_weight=settings.usage_weight,
            reclaims_fair_share=settings.reclaim_target == ReclaimTarget.FAIR_SHARE,
        ),
    )
    return [asdict(row) for row in rows]
