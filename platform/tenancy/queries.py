"""What do others ask about teams? They ask who is above whom, and for quotas per pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tenancy.models import Quota, Team, limits_of


def teams_by_name() -> dict[str, Team]:
    return {team.name: team for team in Team.objects.select_related("parent")}


@dataclass(frozen=True, slots=True)
class TeamsWithLimits:
    """All teams with their limits, by id; read in one statement."""

    teams: Mapping[int, Team]

    @classmethod
    def read(cls) -> TeamsWithLimits:
        return cls(Team.objects.select_related("limits").in_bulk())

    def line(self, team_id: int) -> Iterator[Team]:
        """Yield the team and those above it, as far as they are known; a circle ends this too."""
        seen: set[int] = set()
        at: int | None = team_id
        while at is not None and at not in seen and (team := self.teams.get(at)) is not None:
            seen.add(at)
            yield team
            at = team.parent_id

    def gpus_per_user(self, team_id: int) -> tuple[int, Team] | None:
        """Return the least `max_gpus_per_user` of its line, and whose it is; None: no limit."""
        limited = ((limits_of(team).max_gpus_per_user, team) for team in self.line(team_id))
        found = [(most, team) for most, team in limited if most is not None]
        return min(found, key=lambda one: one[0], default=None)

    def below(self, team_id: int) -> set[int]:
        """Return the ids of the team and of all below it."""
        return self.below_each([team_id])[team_id]

    def below_each(self, team_ids: Iterable[int]) -> Mapping[int, set[int]]:
        """Return the same of each of these; every team's line is walked once for all of them."""
        found: dict[int, set[int]] = {one: set() for one in team_ids}
        for key in self.teams:
            for team in self.line(key):
                if team.pk in found:
                    found[team.pk].add(key)
        return found


def quotas_of_pool(pool_id: int) -> Mapping[int, Quota]:
    """Return a pool's quotas by team id. A team without one has no guarantee and no limit."""
    return {quota.team_id: quota for quota in Quota.objects.filter(pool_id=pool_id)}
