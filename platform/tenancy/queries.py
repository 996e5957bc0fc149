"""What do others ask about teams? They ask for quotas per pool."""

from __future__ import annotations

from collections.abc import Mapping

from tenancy.models import Quota, Team


def teams_by_name() -> dict[str, Team]:
    return {team.name: team for team in Team.objects.select_related("parent")}


def quotas_of_pool(pool_id: int) -> Mapping[int, Quota]:
    """Return a pool's quotas by team id. A team without one has no guarantee and no limit."""
    return {quota.team_id: quota for quota in Quota.objects.filter(pool_id=pool_id)}
