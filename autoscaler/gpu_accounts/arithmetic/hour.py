"""Which lines does an hour of a pool have in the accounts?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autoscaler.gpu_accounts.arithmetic.history import (
    HeldGpus,
    Microseconds,
    RecordedCapacity,
    TeamPromise,
)
from autoscaler.gpu_accounts.arithmetic.job_times import JobTime, job_times
from autoscaler.gpu_accounts.arithmetic.pool_times import TeamTime, pool_times


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolHour:
    """The accounts of a pool for an hour.

    What jobs held, guaranteed and borrowed, and what was reserved and idle are the capacity.
    """

    capacity: Microseconds
    excess: Microseconds  # of it, what was held although it was not there: a contradiction
    by_job: Mapping[tuple[str, int], JobTime]  # team, number of the job's account
    by_team: Mapping[str, TeamTime]  # the team without a name: promised to nobody


def pool_hour(
    held: Sequence[HeldGpus],
    promises: Sequence[TeamPromise],
    capacities: Sequence[RecordedCapacity],
    *,
    since: Microseconds,
    until: Microseconds,
) -> PoolHour:
    """Return the accounts of a pool from `since` until `until`."""
    times = pool_times(held, promises, capacities, since=since, until=until)
    return PoolHour(
        capacity=times.capacity,
        excess=times.excess,
        by_job=dict(_by_job(held, promises, since, until)),
        by_team=times.by_team,
    )


def _by_job(
    held: Iterable[HeldGpus],
    promises: Iterable[TeamPromise],
    since: Microseconds,
    until: Microseconds,
) -> Iterator[tuple[tuple[str, int], JobTime]]:
    held_by: defaultdict[str, list[HeldGpus]] = defaultdict(list)
    promised_to: defaultdict[str, list[TeamPromise]] = defaultdict(list)
    for one in held:
        held_by[one.team].append(one)
    for promise in promises:
        promised_to[promise.team].append(promise)
    for team, of_team in held_by.items():
        times = job_times(of_team, promised_to[team], since=since, until=until)
        for job, time in times.items():
            yield (team, job), time
