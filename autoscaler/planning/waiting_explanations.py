"""What does a waiting job wait for? One sentence for the cause, one for the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import Preemptibility
from autoscaler.planning.decisions import Reason
from autoscaler.planning.wording import gpus, names, plural

if TYPE_CHECKING:
    from autoscaler.planning.outcome import Outcome, PoolPicture
    from autoscaler.planning.reasons import Cause


def waiting_message(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:  # noqa: PLR0911 - one for each reason
    needs = gpus(outcome.demand.needed_gpus)
    match cause.reason:
        case Reason.EXCEEDS_LIMIT:
            return _cannot_start(outcome, picture)
        case Reason.WAITING_FOR_QUOTA:
            return f"Waits for {needs}: {_quota_in_the_way(outcome, picture)}."
        case Reason.FRAGMENTED:
            return (
                f"Waits for {gpus(outcome.demand.job.gpus_per_worker)} together on one node: "
                f"{picture.gpus_free_now} free, but scattered."
            )
        case Reason.WAITING_FOR_RECLAIM if _is_owed(outcome, picture):
            return f"Waits for {needs} of its team's guarantee: {_coming_back(picture)}."
        case Reason.WAITING_FOR_RECLAIM:
            return f"Waits for {needs}: {_standing_behind(outcome, picture)} is owed what is free."
        case Reason.BEHIND_HIGHER_PRIORITY:
            return (
                f"Waits for {needs}: {_standing_behind(outcome, picture)} needs more, has waited "
                f"longer and comes first."
            )
        case _:
            return f"Waits for {needs}: {_what_is_free(outcome, picture)}"


def _cannot_start(outcome: Outcome, picture: PoolPicture) -> str:
    job, needed = outcome.demand.job, outcome.demand.needed_gpus
    limit = picture.quotas[job.team].limit_gpus
    if limit is not None and needed > limit:
        return (
            f"Cannot start: its smallest size needs {gpus(needed)}, the limit of team {job.team} "
            f"is {limit}. Lower min_workers, or have the limit raised."
        )
    if needed > picture.gpus_total:
        return (
            f"Cannot start: its smallest size needs {gpus(needed)}, pool {picture.pool.name} has "
            f"{picture.gpus_total}. Lower min_workers."
        )
    return (
        f"Cannot start: no allowed number of workers with {gpus(job.gpus_per_worker)} each fits "
        f"pool {picture.pool.name} of {gpus(picture.gpus_total)} and the range of batch sizes."
    )


def _quota_in_the_way(outcome: Outcome, picture: PoolPicture) -> str:
    job = outcome.demand.job
    quota, used = picture.quotas[job.team], picture.planned_by_team[job.team]
    if quota.limit_gpus is not None and used + outcome.demand.needed_gpus > quota.limit_gpus:
        return f"team {job.team} uses {used} of its limit of {gpus(quota.limit_gpus)}"
    if job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
        return (
            f"it is non-preemptible and may not borrow, and the {gpus(quota.guaranteed_gpus)} "
            f"guaranteed to team {job.team} are taken"
        )
    return f"the other jobs of team {job.team} leave no room under its limit"


def _coming_back(picture: PoolPicture) -> str:
    if givers := picture.losers:
        return f"{names(givers)} {plural(len(givers), 'gives', 'give')} GPUs back"
    return f"{gpus(picture.gpus_free_now)} free, the rest is being given back"


def _is_owed(outcome: Outcome, picture: PoolPicture) -> bool:
    return outcome.job_id in picture.admission.guaranteed


def _standing_behind(outcome: Outcome, picture: PoolPicture) -> str:
    refusal = picture.admission.refused.get(outcome.job_id)
    if refusal is None or refusal.blocker is None:
        return "another job"
    return picture.by_id[refusal.blocker].demand.job.name


def _what_is_free(outcome: Outcome, picture: PoolPicture) -> str:
    """Free now, who holds the rest, the place in the queue, and what would start the job."""
    free = picture.admission.gpus_free
    missing = outcome.demand.needed_gpus - free
    refusal = picture.admission.refused.get(outcome.job_id)
    position = refusal.position if refusal else 1
    can_be_had = f"{free} {plural(free, 'is', 'are')} free or can be freed by shrinking others"
    if free == 0:
        can_be_had = "none is free, and the running jobs are at their smallest sizes"
    place = "Next in the queue" if position == 1 else f"Number {position} in the queue"
    return (
        f"{can_be_had}; {_holders(picture)}. {place}; starts as soon as {missing} more "
        f"{plural(missing, 'GPU is', 'GPUs are')} free."
    )


def _holders(picture: PoolPicture) -> str:
    """`vision holds 3 of 4 (1 borrowed), language 1`, most first."""
    held = {team: count for team, count in picture.planned_by_team.items() if count}
    parts: list[str] = []
    for team in sorted(held, key=lambda name: (-held[name], name)):
        borrowed = max(held[team] - picture.quotas[team].guaranteed_gpus, 0)
        loan = f" ({borrowed} borrowed)" if borrowed else ""
        verb = f" holds {held[team]} of {picture.gpus_total}" if not parts else f" {held[team]}"
        parts.append(f"{team}{verb}{loan}")
    return ", ".join(parts) or "nobody holds any"
