"""Which job comes before which?

Priority, then what runs already, then who came first. Age counts among those that wait: a job gains
a point of priority for every `AGEING_SECONDS`. It takes nothing away from running jobs, though:
only a higher priority of its own does that, or a fixed set of jobs would take turns for ever.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.demand import Demand

AGEING_SECONDS: Final = 600.0  # guessed: the whole range of priorities, 0 to 100, in 17 hours


def waited_seconds(demand: Demand, now: float) -> float:
    """Return how long a waiting job has waited this time."""
    job = demand.job
    since = job.submitted_at if job.waiting_since is None else job.waiting_since
    return max(now - since, 0.0)


def runs_since(demand: Demand) -> float:
    """Return when the present run of an active job began."""
    job = demand.job
    began = job.started_at if job.running_since is None else job.running_since
    return job.submitted_at if began is None else began


def by_importance(running: Iterable[Demand]) -> list[Demand]:
    """Running jobs, most important first. Among equals the one that runs longest."""
    return sorted(
        running,
        key=lambda d: (-d.job.priority, runs_since(d), d.job.submitted_at, d.job.job_id),
    )


def rank(demand: Demand) -> tuple[float, float, str]:
    """Sort key by priority and age. It stays the same while the job waits, and all others too."""
    job = demand.job
    since = job.submitted_at
    if job.waiting_since is not None and not demand.is_active:
        since = job.waiting_since
    return (since - AGEING_SECONDS * job.priority, job.submitted_at, job.job_id)


def by_aged_priority(waiting: Iterable[Demand]) -> list[Demand]:
    """Waiting jobs, next first."""
    return sorted(waiting, key=rank)


def in_team_order(
    running: Sequence[Demand], waiting: Sequence[Demand], *, share: int
) -> list[Demand]:
    """One team's jobs in the order in which they use up what it is entitled to.

    First what runs and is protected; then both lists merged, a waiting job before a running one
    only if it and all that wait before it have the higher priority.
    """
    protected = _protected(running, share)
    ids = {demand.job.job_id for demand in protected}
    others = (demand for demand in running if demand.job.job_id not in ids)
    rest = [(-demand.job.priority, 0, place, demand) for place, demand in enumerate(others)]
    weakest = max((demand.job.priority for demand in waiting), default=0)
    for place, demand in enumerate(waiting):
        weakest = min(weakest, demand.job.priority)
        rest.append((-weakest, 1, place, demand))
    return protected + [demand for *_, demand in sorted(rest, key=lambda entry: entry[:3])]


def _protected(running: Sequence[Demand], share: int) -> list[Demand]:
    """Return the demands whose smallest size uses up the share first; those that run longest first.

    What cannot be paused at all, and what is semi-preemptible where it fits beside all that ran
    before it: one that started as a borrower pushes nobody out of the share.
    """
    by_seniority = sorted(
        running,
        key=lambda d: (not _is_for_good(d), runs_since(d), d.job.submitted_at, d.job.job_id),
    )
    used = accumulate(demand.floor_gpus for demand in by_seniority)
    return [
        demand
        for demand, gpus in zip(by_seniority, used, strict=True)
        if _is_for_good(demand) or (_is_semi(demand) and gpus <= share)
    ]


def _is_for_good(demand: Demand) -> bool:
    return demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE


def _is_semi(demand: Demand) -> bool:
    return demand.job.preemptibility is Preemptibility.SEMI_PREEMPTIBLE
