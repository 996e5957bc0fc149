"""Why does a job start, change or pause, at whose cost, and what does it bring?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    GpuOrigin,
    Jobs,
    Owed,
    Paused,
    Rescaled,
    SizeOption,
    Started,
)
from autoscaler.planning.demand.application_metric import reading_of
from autoscaler.planning.explanations.references import (
    choice,
    choices,
    ended_jobs,
    jobs,
    reserved,
    team_share,
    user_share,
)
from autoscaler.planning.snapshot.cluster_state import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture


def started(outcome: AllocationOutcome, picture: PoolPicture) -> Started:
    size, team = outcome.size, outcome.demand.job.team
    assert size is not None  # noqa: S101 - a start has a size
    reason = picture.cause_of(outcome).reason
    return Started(
        reason=reason,
        workers=size.workers,
        gpus=outcome.gpus_after,
        global_batch_size=size.global_batch_size,
        is_measured=size.samples_per_second > 0 or not outcome.demand.job.is_measurable,
        choices=choices(outcome, picture),
        price=picture.price,
        team=team_share(team, picture),
        origin=_origin(outcome, reason, picture),
        givers=jobs(_givers(outcome, reason, picture)),
        pools=picture.offers.get(outcome.job_id, ()),
    )


def _givers(
    outcome: AllocationOutcome, reason: JobReason, picture: PoolPicture
) -> Sequence[AllocationOutcome]:
    match reason:
        case JobReason.RECLAIM_GUARANTEE:
            team = outcome.demand.job.team
            return [loser for loser in picture.losers if loser.demand.job.team != team]
        case JobReason.RESERVATION:
            return picture.guests_of(outcome)
        case _:
            return ()


def _origin(outcome: AllocationOutcome, reason: JobReason, picture: PoolPicture) -> GpuOrigin:
    if reason is JobReason.RECLAIM_GUARANTEE:
        return GpuOrigin.RETURNED
    if reason is JobReason.RESERVATION:
        return GpuOrigin.RESERVED
    if outcome.job_id not in picture.admission.guaranteed:
        return GpuOrigin.BORROWED
    guaranteed = picture.quotas[outcome.demand.job.team].guaranteed_gpus
    return GpuOrigin.PARTLY_BORROWED if outcome.gpus_after > guaranteed else GpuOrigin.GUARANTEE


def rescaled(outcome: AllocationOutcome, picture: PoolPicture) -> Rescaled:
    cause, demand = picture.cause_of(outcome), outcome.demand
    before, after = demand.present, outcome.size
    assert before is not None  # noqa: S101 - a rescale has a size before
    assert after is not None  # noqa: S101 - and one after
    size_values = picture.split.size_values.get(outcome.job_id)
    old, new = choice(before, size_values), choice(after, size_values)
    is_owed = cause.reason is JobReason.RECLAIM_GUARANTEE and outcome.loses
    return Rescaled(
        reason=cause.reason,
        before=old,
        after=new,
        gain=None if outcome.substitution else _gain(old, new),  # of the same size: not known
        stall_seconds=demand.job.stall_seconds,
        choices=choices(outcome, picture),
        price=picture.price,
        team=team_share(demand.job.team, picture),
        owed=_owed(cause.beneficiaries, picture) if is_owed else None,
        takers=jobs(cause.beneficiaries),
        givers=jobs(picture.losers) if outcome.gains else Jobs(),
        finished=ended_jobs(picture.changed(ChangeKind.JOB_FINISHED)),
        joined_nodes=tuple(change.name for change in picture.changed(ChangeKind.NODE_JOINED)),
        pool=picture.pool.name,
        pool_gpus=picture.gpus_total,
        places=outcome.allocation.workers_by_node if outcome.allocation else (),
        reading=reading_of(demand.job),
        substitution=outcome.substitution,
        reports_speed=demand.job.is_measurable,
        user=user_share(outcome, picture),
        balance=outcome.balance and replace(outcome.balance, for_job=None),  # see `takers`
    )


def _gain(before: SizeOption, after: SizeOption) -> float | None:
    if not before.samples_per_second or not after.samples_per_second:
        return None
    return after.speedup / before.speedup - 1


def paused(outcome: AllocationOutcome, picture: PoolPicture) -> Paused:
    cause = picture.cause_of(outcome)
    is_owed = cause.reason in {JobReason.RECLAIM_GUARANTEE, JobReason.FAIR_SHARE}
    due = picture.admission.gave_way.get(outcome.job_id)
    return Paused(
        reason=cause.reason,
        gpus_given=outcome.gpus_before,
        needed_gpus=outcome.demand.needed_gpus,
        gpus_left=picture.admission.gpus_free,
        pool=picture.pool.name,
        owed=_owed(cause.beneficiaries, picture) if is_owed else None,
        takers=jobs(cause.beneficiaries),
        reserved=reserved(due, picture) if due else None,
    )


def _owed(takers: Sequence[AllocationOutcome], picture: PoolPicture) -> Owed | None:
    """Return what the first taker's team lacks of its guarantee, as far as they take it."""
    if not takers:
        return None
    team = takers[0].demand.job.team
    of_team = [taker for taker in takers if taker.demand.job.team == team]
    guaranteed = picture.quotas[team].guaranteed_gpus
    taken = sum(map(_taken_by, of_team))
    return Owed(
        team=team,
        missing_gpus=min(max(guaranteed - picture.held_by_team[team], 0), taken),
        guaranteed_gpus=guaranteed,
        entitled_gpus=picture.admission.entitled.get(team, 0),
        jobs=jobs(of_team),
    )


def _taken_by(taker: AllocationOutcome) -> int:
    """GPUs; of a job that was admitted and found no place, what it needs."""
    return (taker.gpus_after or taker.demand.needed_gpus) - taker.gpus_before
