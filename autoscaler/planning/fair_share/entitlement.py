"""What may each team claim, and which of its jobs are within the claim?

With the reclaim target `guarantee` a team may claim its guarantee, as far as its jobs have a use
for it, and what its siblings leave idle of theirs; with `fair_share` its share of the surplus too.
A job is within the claim when its smallest size, added to those of its team's jobs before it, is.

Usage of the past lowers what waiting jobs may claim, never what running jobs hold their GPUs by:
usage grows by running and fades by waiting, so a fixed set of jobs would take turns for ever.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from autoscaler.planning.fair_share.precedence import in_team_order
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from autoscaler.planning.teams.water_filling import Want, fair_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.snapshot.cluster_state import PlannedJob
    from autoscaler.planning.teams.team_tree import TeamNode, TeamTree
    from autoscaler.planning.teams.user_limits import UserLimits
    from autoscaler.planning.teams.water_filling import Weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Entitlement:
    """GPUs by team, the ids of the jobs within, and what these can make of it."""

    gpus: Mapping[str, int]
    jobs: frozenset[str]
    held: Mapping[str, int]  # at most the team's claim: no borrower may be started on it


def entitle(
    running: Sequence[Demand],
    waiting: Sequence[Demand],
    *,
    tree: TeamTree,
    gpus: int,
    lowered_weight: Weight,
    has_surplus: bool,
) -> Entitlement:
    """Both lists most important first; cost: the number of jobs, sorted once per team.

    `lowered_weight` is a team's weight as lowered by its usage of the past.
    """
    teams: defaultdict[str, tuple[list[Demand], list[Demand]]] = defaultdict(lambda: ([], []))
    for demand in running:
        teams[demand.job.team][0].append(demand)
    for demand in waiting:
        teams[demand.job.team][1].append(demand)
    wants = {
        team: Want(demand=tree.users.together(map(_claim, (*active, *queued))))
        for team, (active, queued) in teams.items()
    }
    divide = partial(fair_shares, tree, wants, gpus=gpus, has_surplus=has_surplus)
    shares, lowered = divide().own, divide(weight=lowered_weight).own
    within: set[str] = set()
    held: dict[str, int] = {}
    for team, (active, queued) in teams.items():
        to_start = min(shares[team], lowered[team])
        ordered = in_team_order(active, queued, share=shares[team])
        users = _UsersInside.beside(active, tree.users)
        covered = _within(ordered, shares[team], to_start, tree.nodes[team], users)
        within.update(demand.job.job_id for demand in covered)
        held[team] = _usable(covered, shares[team], tree.users)
    return Entitlement(gpus=shares, jobs=frozenset(within), held=held)


def _claim(demand: Demand) -> tuple[PlannedJob, int, int]:
    return demand.job, demand.useful_gpus, demand.floor_gpus if demand.is_active else 0


@dataclass(slots=True, kw_only=True)
class _UsersInside:
    """What the users of a team hold by the smallest sizes of their jobs, and may start beside."""

    limits: UserLimits
    gpus: Counter[str] = field(default_factory=Counter)

    @classmethod
    def beside(cls, running: Sequence[Demand], limits: UserLimits) -> _UsersInside:
        inside = cls(limits=limits)
        for demand in running:
            inside.gpus[demand.job.user] += demand.floor_gpus
        return inside

    def have_room_for(self, waiting: Demand) -> bool:
        room = self.limits.of(waiting.job)
        return room is None or self.gpus[waiting.job.user] + waiting.floor_gpus <= room.here

    def start(self, waiting: Demand) -> None:
        self.gpus[waiting.job.user] += waiting.floor_gpus


def _is_for_good(demand: Demand) -> bool:
    return demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE


def _within(
    jobs: Sequence[Demand], share: int, to_start: int, node: TeamNode, users: _UsersInside
) -> list[Demand]:
    """Running jobs as far as they fit; waiting ones only beside all running jobs before them.

    A team whose running jobs use up its share is owed nothing, even where they leave a hole that a
    small waiting job would fill: filling it would pause one of the team's own. What cannot be taken
    back starts only within what is guaranteed to the team itself, not on what others may claim.
    What its user's limit keeps waiting stands in nobody's way.
    """
    secured = committed = 0
    covered: list[Demand] = []
    for demand in jobs:
        if not demand.is_active and not users.have_room_for(demand):
            continue
        bound = share if demand.is_active else to_start
        if _is_for_good(demand) and not demand.is_active:
            bound = min(bound, node.own_guaranteed)
        used = secured if demand.is_active else committed
        fits = used + demand.floor_gpus <= bound
        if fits:
            covered.append(demand)
            if not demand.is_active:
                users.start(demand)
            secured += demand.floor_gpus
        if fits or demand.is_active:
            committed += demand.floor_gpus
    return covered


def _usable(covered: Sequence[Demand], share: int, limits: UserLimits) -> int:
    """Return what these jobs can grow to within the share, one after the other."""
    used = sum(demand.floor_gpus for demand in covered)
    of_users: Counter[str] = Counter()
    for demand in covered:
        of_users[demand.job.user] += demand.floor_gpus
    for demand in covered:
        room, own = share - used, limits.of(demand.job)
        if room <= 0:
            break
        if own is not None:
            room = min(room, own.here - of_users[demand.job.user])
        grown = _growth(demand, room) if room > 0 else 0
        of_users[demand.job.user] += grown
        used += grown
    return used


def _growth(demand: Demand, room: int) -> int:
    most = min(demand.floor_gpus + room, demand.useful_gpus)
    if demand.is_pinned:  # its sizes are not known now; it may use them when its change is over
        return max(most - demand.floor_gpus, 0)
    per_worker = demand.job.gpus_per_worker
    sizes = (size.workers * per_worker for size in reversed(demand.sizes))
    return max(next((gpus for gpus in sizes if gpus <= most), 0) - demand.floor_gpus, 0)
