"""What of a pool did teams lend, what was kept for them, and what lay idle?

Borrowers use GPUs first that nobody is promised, then those of the team with most idle ones: the
rule by which a team's standing is shown.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autoscaler.gpu_accounts.arithmetic.history import (
    HeldGpus,
    Microseconds,
    RecordedCapacity,
    TeamPromise,
)
from autoscaler.gpu_accounts.arithmetic.stretches import stretches

NOBODY = ""  # whom GPUs are promised to that are promised to no team; no team may bear the name


@dataclass(slots=True, kw_only=True)
class TeamTime:
    """GPU time of what a team was promised and did not use itself."""

    lent: Microseconds = 0
    reserved: Microseconds = 0  # idle, and kept for it alone
    idle: Microseconds = 0


@dataclass(slots=True, kw_only=True)
class PoolTimes:
    """What became of a pool's GPU time beside what jobs held."""

    capacity: Microseconds = 0  # all there was, and all that was held although it was not there
    excess: Microseconds = 0  # of it, what was held although it was not there
    by_team: defaultdict[str, TeamTime] = field(default_factory=lambda: defaultdict(TeamTime))


@dataclass(slots=True)
class _Moment:
    """A pool as it is between two changes, in GPUs."""

    gpus: int = 0
    held: Counter[str] = field(default_factory=Counter)
    guaranteed: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def change(self, one: HeldGpus | RecordedCapacity | TeamPromise, sign: int) -> None:
        if isinstance(one, RecordedCapacity):
            self.gpus += sign * one.gpus
        elif isinstance(one, HeldGpus):
            self.held[one.team] += sign * one.gpus
        else:
            self.guaranteed[one.team] += sign * one.guaranteed
            self.kept[one.team] += sign * one.kept

    def add(self, length: Microseconds, times: PoolTimes) -> None:
        held = self.held.total()
        gpus = max(self.gpus, held)
        times.capacity += gpus * length
        times.excess += (gpus - self.gpus) * length
        unused = {
            team: guaranteed - self.held[team]
            for team, guaranteed in sorted(self.guaranteed.items())
            if guaranteed > self.held[team]
        }
        borrowed = sum(max(gpus - self.guaranteed[team], 0) for team, gpus in self.held.items())
        unpromised = max(gpus - self.guaranteed.total(), 0)
        lent = lent_by(unused, max(borrowed - unpromised, 0))
        idle = gpus - held
        for team, most in unused.items():
            left = min(most - lent[team], idle)  # of more than there is, not all can be promised
            reserved = min(left, self.kept[team])
            idle -= left
            times.by_team[team].lent += lent[team] * length
            times.by_team[team].reserved += reserved * length
            times.by_team[team].idle += (left - reserved) * length
        times.by_team[NOBODY].idle += idle * length


def pool_times(
    held: Iterable[HeldGpus],
    promises: Iterable[TeamPromise],
    capacities: Iterable[RecordedCapacity],
    *,
    since: Microseconds,
    until: Microseconds,
) -> PoolTimes:
    """Return what became of the pool's GPU time beside what jobs held."""
    times, moment = PoolTimes(), _Moment()
    recordings: list[HeldGpus | RecordedCapacity | TeamPromise] = [*held, *promises, *capacities]
    for begins, ends, changes in stretches(recordings, since=since, until=until):
        for one in changes.ended:
            moment.change(one, -1)
        for one in changes.begun:
            moment.change(one, +1)
        moment.add(ends - begins, times)
    return times


def lent_by(unused: Mapping[str, int], gpus: int) -> Mapping[str, int]:
    """Return who lends how many of so many GPUs: each is of the team with most idle ones left."""
    lent = dict.fromkeys(unused, 0)
    most_first = [(-idle, team) for team, idle in unused.items()]
    heapq.heapify(most_first)
    for _ in range(min(gpus, sum(unused.values()))):
        idle, team = most_first[0]
        lent[team] += 1
        heapq.heapreplace(most_first, (idle + 1, team))
    return lent
