"""What is each team given of each pool? Every team of the tree, with a quota or without."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.models import Pool
from tenancy import usage
from tenancy.models import FairShareSettings, Quota, Team
from tenancy.queries import TeamsWithLimits

from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget


def team_quotas() -> Iterator[planning.TeamQuota]:
    """One for each pool and team, by name: a team without a quota hangs in the tree, too."""
    quotas = {(quota.pool_id, quota.team_id): quota for quota in Quota.objects.all()}
    used = usage.gpu_seconds()
    teams = list(Team.objects.select_related("parent", "limits").order_by("name"))
    tree = TeamsWithLimits({team.pk: team for team in teams})
    of_users = {team.pk: tree.gpus_per_user(team.pk) for team in teams}
    for pool in Pool.objects.order_by("name"):
        for team in teams:
            quota = quotas.get((pool.pk, team.pk)) or Quota(team=team, pool=pool)
            of_user = of_users[team.pk]
            yield planning.TeamQuota(
                team=team.name,
                pool=pool.name,
                guaranteed_gpus=quota.guaranteed_gpus,
                limit_gpus=quota.limit_gpus,
                over_quota_weight=quota.over_quota_weight,
                parent=team.parent.name if team.parent else None,
                lending_limit_gpus=quota.lending_limit_gpus,
                decayed_gpu_seconds=used.get((pool.pk, team.pk), 0.0),
                user_limit_gpus=of_user[0] if of_user else None,
            )


def reclaim_rules(settings: FairShareSettings) -> planning.ReclaimRules:
    return planning.ReclaimRules(
        target=ReclaimTarget(settings.reclaim_target),
        delay_seconds=settings.reclaim_delay_seconds,
        min_runtime_seconds=settings.reclaim_min_runtime_seconds,
    )
