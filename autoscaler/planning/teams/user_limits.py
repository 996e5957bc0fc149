"""How many GPUs may one user's jobs of a team hold together?

A team's `user_limit_gpus` holds for the jobs that one user has submitted in that very team, in all
pools together. Pools are planned one after the other, so within a pool it is the limit less what
the same user's jobs hold in the others: as planned there already, and else as they are now. A user
whose jobs hold more than that gives up what exceeds their smallest sizes; no job is paused for it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

    _User = tuple[str, str]  # the team, and the user in it


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoom:
    """What one user's jobs of a team may hold: in all pools, and of that in others than this."""

    limit: int
    elsewhere: int = 0

    @property
    def here(self) -> int:
        """What is left for this pool."""
        return max(self.limit - self.elsewhere, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLimits:
    """The limits of users as they hold in one pool. A job whose user is not known has none."""

    by_team: Mapping[str, int] = field(default_factory=dict)
    elsewhere: Mapping[_User, int] = field(default_factory=dict)

    def of(self, job: PlannedJob) -> UserRoom | None:
        limit = self.by_team.get(job.team)
        if limit is None or not job.user:
            return None
        return UserRoom(limit=limit, elsewhere=self.elsewhere.get((job.team, job.user), 0))

    def together(self, claims: Iterable[tuple[PlannedJob, int, int]]) -> int:
        """Add up what jobs could use, of each user as far as the limit lets them.

        A claim is a job, the GPUs it has a use for, and what of them cannot be taken from it.
        """
        if not self.by_team:
            return sum(useful for _, useful, _ in claims)
        total = 0
        of_users: defaultdict[_User, list[tuple[int, int]]] = defaultdict(list)
        rooms: dict[_User, UserRoom] = {}
        for job, useful, held in claims:
            room = self.of(job)
            if room is None:
                total += useful
            else:
                of_users[job.team, job.user].append((useful, held))
                rooms[job.team, job.user] = room
        for user, numbers in of_users.items():
            most = max(rooms[user].here, sum(held for _, held in numbers))
            total += min(sum(useful for useful, _ in numbers), most)
        return total


class UserHoldings:
    """What each user's jobs hold in each pool, changed as one pool after the other is planned.

    `smallest` are the GPUs of each running job's smallest size, by its id: one that has lost
    workers gets that back.
    """

    def __init__(self, state: ClusterState, smallest: Mapping[str, int]) -> None:
        self._limits = {
            (quota.pool, quota.team): quota.user_limit_gpus
            for quota in state.quotas
            if quota.user_limit_gpus is not None
        }
        self._held: defaultdict[str, defaultdict[_User, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        if self._limits:
            for job in state.jobs:
                most = max(_most_held(job), smallest.get(job.job_id, 0))
                self._held[job.pool][job.team, job.user] += most

    def limits_in(self, pool: str) -> UserLimits:
        by_team = {team: most for (name, team), most in self._limits.items() if name == pool}
        if not by_team:
            return UserLimits()
        elsewhere: defaultdict[_User, int] = defaultdict(int)
        for name, held in self._held.items():
            if name != pool:
                for user, gpus in held.items():
                    elsewhere[user] += gpus
        return UserLimits(by_team=by_team, elsewhere=dict(elsewhere))

    def planned(self, pool: str, gpus: Iterable[tuple[PlannedJob, int]]) -> None:
        """Count from now on what is planned for the pool's jobs, and not what they hold."""
        if self._limits:
            self._held[pool].clear()
            for job, count in gpus:
                self._held[pool][job.team, job.user] += count


def _most_held(job: PlannedJob) -> int:
    """Return what it holds, or will when a change under way is over: whichever is more."""
    ways = (way for way in (job.allocation, job.target) if way is not None)
    return max((way.workers for way in ways), default=0) * job.gpus_per_worker
