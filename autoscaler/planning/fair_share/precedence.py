"""Which job comes before which?

Priority, then what runs already, then who came first. Age counts among those that wait: a job gains
a point of priority for every `AGEING_SECONDS`. It takes nothing away from running jobs, though:
only a higher priority of its own does that, or a fixed set of jobs would take turns for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.planning.cluster_state import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.demand import Demand

AGEING_SECONDS: Final = 600.0  # guessed: the whole range of priorities, 0 to 100, in 17 hours


def waited_seconds(demand: Demand, now: float) -> float:
    """For how long a waiting job has waited this time."""
    job = demand.job
    since = job.submitted_at if job.waiting_since is None else job.waiting_since
    return max(now - since, 0.0)


def runs_since(demand: Demand) -> float:
    """When the present run of an active job began."""
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


def in_team_order(running: list[Demand], waiting: list[Demand]) -> list[Demand]:
    """One team's jobs in the order in which they use up what it is entitled to.

    First what runs and is protected; then both lists merged, a waiting job before a running one
    only if it and all that wait before it have the higher priority.
    """
    protected = sorted(filter(_protection, running), key=_protection)
    others = (demand for demand in running if not _protection(demand))
    rest = [(-demand.job.priority, 0, place, demand) for place, demand in enumerate(others)]
    weakest = max((demand.job.priority for demand in waiting), default=0)
    for place, demand in enumerate(waiting):
        weakest = min(weakest, demand.job.priority)
        rest.append((-weakest, 1, place, demand))
    return protected + [demand for *_, demand in sorted(rest, key=lambda entry: entry[:3])]


def _protection(running: Demand) -> int:
    """Whose smallest size is protected uses up the claim before all others; 0: it is not."""
    order = {Preemptibility.NON_PREEMPTIBLE: 1, Preemptibility.SEMI_PREEMPTIBLE: 2}
    return order.get(running.job.preemptibility, 0)
