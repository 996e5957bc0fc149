"""Between which totals must each team's jobs stay, whatever the optimum would prefer?

At least: what the team may claim, its guarantee or its fair share as the pool's reclaim target
says, as far as its jobs can use it: sizes that make them no faster are no demand. At most: its
limit, and those of the teams above it, unless the jobs' smallest sizes already exceed it. The jobs
of one user in it are a group of their own below it, which has a limit only. What a team never
lends, and does not use itself, is a claim of its own that brings nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from autoscaler.planning.optimizer import Bounds, SizeChoice
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget
from autoscaler.planning.teams.team_tree import POOL
from autoscaler.planning.teams.water_filling import Shares, Want, fair_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from autoscaler.planning.allocation.size_values import SizeValues
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool
    from autoscaler.planning.teams.team_tree import TeamNode, TeamTree
    from autoscaler.planning.teams.user_limits import UserLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamBounds:
    """What the optimizer must keep to.

    `are_met`: nobody lacks what is due because a job that was changed a moment ago stays.
    """

    gpus: int
    by_team: Mapping[str, Bounds]  # of a team with all below it, and of limited users
    parents: Mapping[str, str]
    users: Mapping[str, str]  # of jobs of limited users, by id: the group below their team
    kept: Sequence[SizeChoice]  # GPUs that teams never lend
    are_met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _TeamNeed:
    """The GPUs of one team's own jobs: at least, at most of use, and wherever between.

    The jobs of a user who has a limit count as one job: its steps are what they may have together.
    """

    floor: int  # all on the smallest sizes they may take now
    smallest: int  # all on their smallest sizes
    useful: int
    steps: Sequence[Sequence[int]]  # of each job: the GPUs it may take above its smallest size
    users: Mapping[str, Bounds] = field(default_factory=dict)  # of each limited user: group, bounds
    are_users_within: bool = True  # no user's smallest sizes exceed the limit


def team_bounds(
    values_of_jobs: Sequence[SizeValues], *, pool: PlannedPool, tree: TeamTree, gpus: int
) -> TeamBounds:
    """Bounds for all teams of the tree.

    Guarantees are cut, by water-filling, only where the pool is smaller than all of them together:
    nodes are gone, or more was promised than there is.
    """
    needs = _needs(values_of_jobs, tree.users)
    divide = partial(
        fair_shares,
        tree,
        gpus=gpus,
        has_surplus=pool.reclaim.target is ReclaimTarget.FAIR_SHARE,
    )
    now = divide({team: Want(demand=need.useful, floor=need.floor) for team, need in needs.items()})
    due = divide(
        {team: Want(demand=need.useful, floor=need.smallest) for team, need in needs.items()}
    )
    granted, least = _usable(now, needs, divide)
    kept = _kept(tree, granted, least)
    return TeamBounds(
        gpus=gpus,
        by_team=_bounds(tree, least, kept)
        | {group: most for need in needs.values() for group, most in need.users.items()},
        parents=dict(tree.parents)
        | {group: team for team, need in needs.items() for group in need.users},
        users={
            one.demand.job.job_id: _group(one.demand.job)
            for one in values_of_jobs
            if tree.users.of(one.demand.job) is not None
        },
        kept=[
            SizeChoice(
                job_id=f"kept for {team}", team=team, gpus=range(n + 1), values=[0.0] * (n + 1)
            )
            for team, n in kept.items()
        ],
        are_met=now == due and _limits_are_kept(tree, needs),
    )


def _usable(
    granted: Shares, needs: Mapping[str, _TeamNeed], divide: Callable[[Mapping[str, Want]], Shares]
) -> tuple[Shares, dict[str, int]]:
    """Shares of which nothing is wasted, and what each team's jobs make of its own.

    A share may lie between two sizes. What its team cannot use of it goes to the others.
    """
    most = {team: need.useful for team, need in needs.items()}
    while True:
        least = {
            team: need.floor + largest_within(need.steps, granted.own[team] - need.floor)
            for team, need in needs.items()
        }
        wasting = {team: n for team, n in least.items() if n < min(granted.own[team], most[team])}
        if not wasting:
            return granted, least
        most |= wasting
        granted = divide({t: Want(demand=most[t], floor=need.floor) for t, need in needs.items()})


def largest_within(steps: Iterable[Sequence[int]], room: int) -> int:
    """The largest total of at most `room` when each job takes one of its steps, or none.

    One bit per total, so a job costs its steps times room / 64 operations; it ends as soon as the
    room is filled, which a few jobs of many sizes do.
    """
    if room <= 0:
        return 0
    totals = 1
    for totals in _reachable(steps, room):
        if totals >> room:
            break
    return totals.bit_length() - 1


def _totals_within(steps: Iterable[Sequence[int]], room: int) -> list[int]:
    """All totals above 0 and of at most `room` when each job takes one of its steps, or none."""
    *_, totals = (1, *_reachable(steps, room))
    bits = reversed(f"{totals:b}")
    return [total for total, bit in enumerate(bits) if total and bit == "1"]


def _reachable(steps: Iterable[Sequence[int]], room: int) -> Iterator[int]:
    """Yield, after each job, the totals that can be had with those so far: a bit for each."""
    mask, totals = (1 << (room + 1)) - 1, 1
    for own in steps:
        sums = totals
        for gpus in own:
            if gpus > room:
                break
            sums |= totals << gpus
        totals = sums & mask
        yield totals


def _needs(values_of_jobs: Iterable[SizeValues], users: UserLimits) -> dict[str, _TeamNeed]:
    teams: defaultdict[str, list[SizeValues]] = defaultdict(list)
    for job_values in values_of_jobs:
        teams[job_values.demand.job.team].append(job_values)
    return {team: _limited_need(own, users) for team, own in teams.items()}


def _limited_need(values_of_jobs: Sequence[SizeValues], users: UserLimits) -> _TeamNeed:
    """Add up what is of use to the jobs of each limited user, as far as they may have it."""
    free: list[SizeValues] = []
    limited: defaultdict[str, list[SizeValues]] = defaultdict(list)
    limits: dict[str, int] = {}
    for job_values in values_of_jobs:
        room = users.of(job_values.demand.job)
        if room is None:
            free.append(job_values)
        else:
            group = _group(job_values.demand.job)
            limited[group].append(job_values)
            limits[group] = room.here
    need = _need(free)
    for group, own in limited.items():
        need = _beside_user(need, _need(own), group, limits[group])
    return need


def _beside_user(others: _TeamNeed, own: _TeamNeed, group: str, limit: int) -> _TeamNeed:
    most = max(limit, own.floor)
    is_beyond_all = most - own.floor >= sum(max(steps, default=0) for steps in own.steps)
    together = own.steps if is_beyond_all else [_totals_within(own.steps, most - own.floor)]
    return _TeamNeed(
        floor=others.floor + own.floor,
        smallest=others.smallest + own.smallest,
        useful=others.useful + min(own.useful, most),
        steps=[*others.steps, *together],
        users={**others.users, group: Bounds(most=most)},
        are_users_within=others.are_users_within and own.floor <= limit,
    )


def _group(job: PlannedJob) -> str:
    """Name a user's jobs in the team; no team's name has such a character."""
    return f"{job.team}\0{job.user}"


def _need(values_of_jobs: Sequence[SizeValues]) -> _TeamNeed:
    floor = sum([job_values.claim.gpus[0] for job_values in values_of_jobs])
    return _TeamNeed(
        floor=floor,
        smallest=sum([job_values.demand.smallest_gpus for job_values in values_of_jobs]),
        useful=max(_useful_gpus(values_of_jobs), floor),
        steps=[job_values.steps for job_values in values_of_jobs],
    )


def _limits_are_kept(tree: TeamTree, needs: Mapping[str, _TeamNeed]) -> bool:
    if not all(need.are_users_within for need in needs.values()):
        return False
    inside: dict[str, int] = {}
    for name, node in tree.nodes.items():
        own = needs[name].floor if name in needs else 0
        inside[name] = own + sum(inside[child] for child in node.children)
    return all(
        node.limit is None or inside[node.name] <= node.limit for node in tree.nodes.values()
    )


def _kept(tree: TeamTree, granted: Shares, least: Mapping[str, int]) -> dict[str, int]:
    """Return what may lie idle, by team: what it never lends beyond what it is sure to use."""
    kept: dict[str, int] = {}
    inside: dict[str, int] = {}
    for name, node in tree.nodes.items():
        used = least.get(name, 0) + sum(inside[child] for child in node.children)
        never_lent = min(node.kept, granted.subtree.get(name, 0))
        if never_lent > used:
            kept[name] = never_lent - used
        inside[name] = max(used, never_lent)
    return kept


def _bounds(
    tree: TeamTree,
    least: Mapping[str, int],
    kept: Mapping[str, int],
) -> dict[str, Bounds]:
    bounds: dict[str, Bounds] = {}
    inside: dict[str, int] = {}
    for name, node in tree.nodes.items():
        below = [inside[child] for child in node.children]
        inside[name] = least.get(name, 0) + kept.get(name, 0) + sum(below)
        if name != POOL:
            bounds[name] = Bounds(least=inside[name], most=_most(node, inside[name]))
    return bounds


def _most(node: TeamNode, least: int) -> int | None:
    return None if node.limit is None else max(node.limit, least)


def _useful_gpus(values_of_jobs: Sequence[SizeValues]) -> int:
    """Return what the team's jobs have a use for together.

    A team that asks for more must gain clearly; one that holds it keeps it while it is of any use.
    Otherwise noise would move the same GPU to and fro.
    """
    clearly = sum([job_values.clearly_useful_gpus for job_values in values_of_jobs])
    at_all = sum([job_values.useful_gpus for job_values in values_of_jobs])
    held = sum([job_values.demand.held_gpus for job_values in values_of_jobs])
    return max(clearly, min(at_all, held))
