"""What did the jobs of one team hold of its guarantee, what beyond it, and what did they do there?

The most important job uses the guarantee first, as in planning: by priority, then whose GPUs it has
had for longest. Whatever the order, the jobs together use neither more nor less of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from autoscaler.gpu_accounts.arithmetic.history import HeldGpus, Microseconds, TeamPromise
from autoscaler.gpu_accounts.arithmetic.stretches import stretches


@dataclass(slots=True, kw_only=True)
class JobTime:
    """GPU time of one job. It trained in what it neither took to start nor stood still in."""

    guaranteed: Microseconds = 0
    borrowed: Microseconds = 0
    starting: Microseconds = 0
    stalled: Microseconds = 0
    lost: Microseconds = 0  # was trained before, perhaps in an earlier hour, and in vain


def job_times(
    held: Collection[HeldGpus],
    promises: Iterable[TeamPromise],
    *,
    since: Microseconds,
    until: Microseconds,
) -> Mapping[int, JobTime]:
    """Return the times of each of the team's jobs, by the number of its account."""
    times: defaultdict[int, JobTime] = defaultdict(JobTime)
    holding: list[HeldGpus] = []
    guaranteed = 0
    recordings: list[HeldGpus | TeamPromise] = [*held, *promises]
    for begins, ends, changes in stretches(recordings, since=since, until=until):
        for one in changes.ended:
            if isinstance(one, TeamPromise):
                guaranteed -= one.guaranteed
            else:
                holding.remove(one)
        for one in changes.begun:
            if isinstance(one, TeamPromise):
                guaranteed += one.guaranteed
            else:
                holding.append(one)
        holding.sort(key=lambda job: (-job.priority, job.since, job.job))
        _share(guaranteed, holding, ends - begins, times)
    for one in held:
        _add_activities(one, times, since=since, until=until)
    return times


def _share(
    guaranteed: int, holding: Iterable[HeldGpus], length: Microseconds, times: Mapping[int, JobTime]
) -> None:
    left = guaranteed
    for one in holding:
        own = min(one.gpus, left)
        left -= own
        times[one.job].guaranteed += own * length
        times[one.job].borrowed += (one.gpus - own) * length


def _add_activities(
    one: HeldGpus, times: Mapping[int, JobTime], *, since: Microseconds, until: Microseconds
) -> None:
    begins, ends = max(one.since, since), min(one.until, until)
    if begins >= ends:
        return
    starting = min(one.starting_gpus, one.gpus)
    stalled = max(min(one.since + one.stall, ends) - begins, 0)
    times[one.job].starting += starting * (ends - begins)
    times[one.job].stalled += (one.gpus - starting) * stalled
    if begins == one.since:
        times[one.job].lost += one.lost
