"""Why does a running job stay as it is, and what would one step more bring?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    Cooldown,
    Hindrance,
    NextStep,
    Rival,
    Running,
)
from autoscaler.planning.demand import next_larger
from autoscaler.planning.explanations.references import (
    choices,
    job_ref,
    team_share,
    user_share,
)

if TYPE_CHECKING:
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture


_CHANGES_LATER: Final = {JobReason.NOT_RESCALABLE, JobReason.COOLDOWN}


def running(outcome: AllocationOutcome, picture: PoolPicture) -> Running:
    reason = picture.cause_of(outcome).reason
    step = _next_step(outcome)
    return Running(
        reason=reason,
        workers=outcome.demand.held,
        choices=choices(outcome, picture),
        price=picture.price,
        team=team_share(outcome.demand.job.team, picture),
        hindrance=_hindrance(outcome, step, reason, picture),
        next_step=step,
        rival=_rival(outcome, picture),
        cooldown=_cooldown(outcome, picture) if reason is JobReason.COOLDOWN else None,
        straggler=outcome.demand.job.straggler if reason not in _CHANGES_LATER else None,
        user=user_share(outcome, picture),
    )


def _next_step(outcome: AllocationOutcome) -> NextStep | None:
    """The next size up; None: there is none, or one of both speeds is not known."""
    demand, present = outcome.demand, outcome.demand.present
    larger = next_larger(demand, demand.held)
    if present is None or larger is None or not present.samples_per_second:
        return None
    return NextStep(
        workers=larger.workers,
        gpus=(larger.workers - demand.held) * demand.job.gpus_per_worker,
        gain=larger.speedup / present.speedup - 1,
    )


def _hindrance(  # noqa: PLR0911 - one for each hindrance
    outcome: AllocationOutcome, step: NextStep | None, reason: JobReason, picture: PoolPicture
) -> Hindrance:
    demand = outcome.demand
    match reason:
        case JobReason.NOT_RESCALABLE if demand.job.can_pause and not demand.job.shares_work:
            return Hindrance.PLAIN
        case JobReason.NOT_RESCALABLE:
            return Hindrance.FIXED if demand.job.can_pause else Hindrance.CHANGING
        case JobReason.FRAGMENTED:
            return Hindrance.FRAGMENTED
        case JobReason.COOLDOWN:
            return Hindrance.COOLDOWN
    larger = next_larger(demand, demand.held)
    if larger is None:
        return Hindrance.RANGE
    if step is None and not demand.job.is_measurable:
        return Hindrance.UNMEASURABLE
    if step is None or larger in demand.larger:
        return Hindrance.UNMEASURED
    limit = picture.quotas[demand.job.team].limit_gpus
    if limit is not None and picture.planned_by_team[demand.job.team] + step.gpus > limit:
        return Hindrance.TEAM_LIMIT
    user = user_share(outcome, picture)
    if user is not None and user.used_gpus + step.gpus > user.limit_gpus:
        return Hindrance.USER_LIMIT
    has_rival = picture.best_last_step(besides=outcome) is not None
    return Hindrance.RIVAL if has_rival and picture.gpus_free_now < step.gpus else Hindrance.GAIN


def _rival(outcome: AllocationOutcome, picture: PoolPicture) -> Rival | None:
    best = picture.best_last_step(besides=outcome)
    if best is None or best.outcome.size is None:
        return None
    return Rival(
        job=job_ref(best.outcome),
        workers=best.outcome.size.workers,
        gpus=best.gpus,
        gain=best.gain,
    )


def _cooldown(outcome: AllocationOutcome, picture: PoolPicture) -> Cooldown:
    job = outcome.demand.job
    changed_at = picture.now if job.last_rescaled_at is None else job.last_rescaled_at
    return Cooldown(
        seconds_ago=picture.now - changed_at, min_interval_seconds=job.min_interval_seconds
    )
