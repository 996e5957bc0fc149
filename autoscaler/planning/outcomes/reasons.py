"""Why does each job get what it gets? One dominant cause per decision, read off the whole pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.allocation.split import is_cooling
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.demand.application_metric import ScalingDirection, reading_of
from autoscaler.planning.snapshot.cluster_state import ChangeKind
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget

if TYPE_CHECKING:
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture


_HARDLY_SLOWER: Final = 0.05  # guessed: a job that loses less had no use for the GPUs it gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The dominant reason, and the jobs that get what this one gives."""

    reason: JobReason
    beneficiaries: tuple[AllocationOutcome, ...] = ()


def cause_of(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:
    match outcome.action:
        case Action.WAIT:
            return _why_it_waits(outcome, picture)
        case Action.DROP:
            return Cause(reason=JobReason.DROPPED)
        case Action.PAUSE:
            return _why_it_pauses(outcome, picture)
        case Action.KEEP:
            return _why_it_stays(outcome, picture)
        case Action.START:
            return _why_it_starts(outcome, picture)
        case Action.RESCALE:
            return _why_it_changes(outcome, picture)


def _why_it_waits(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:
    if outcome.is_fragmented:
        return Cause(reason=JobReason.FRAGMENTED)
    refusal = picture.admission.refused.get(outcome.job_id)
    return Cause(reason=refusal.reason if refusal else JobReason.WAITING_FOR_CAPACITY)


def _why_it_pauses(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:
    """It is named after what takes its GPUs, what it lost; else by what it will wait for."""
    if (due := picture.admission.gave_way.get(outcome.job_id)) is not None:
        return Cause(reason=JobReason.RESERVATION, beneficiaries=(picture.by_id[due.job_id],))
    if _is_borrower(outcome, picture) and (claim := _claim_it_gives_way_to(outcome, picture)):
        return claim
    if _is_drained(outcome, picture):
        return Cause(reason=JobReason.NODE_DRAINED)
    if picture.has_lost_nodes or _lost_workers(outcome, picture):
        return Cause(reason=JobReason.NODE_LOST)
    fits = bool(outcome.demand.sizes)
    return Cause(reason=JobReason.WAITING_FOR_CAPACITY if fits else JobReason.EXCEEDS_LIMIT)


def _is_borrower(outcome: AllocationOutcome, picture: PoolPicture) -> bool:
    return bool(outcome.demand.sizes) and outcome.job_id not in picture.admission.guaranteed


def _claim_it_gives_way_to(outcome: AllocationOutcome, picture: PoolPicture) -> Cause | None:
    """The first that holds, most telling first; None: nobody who starts has a claim before it."""
    own = outcome.demand.job
    others = tuple(o for o in picture.owed if o.demand.job.team != own.team)
    short = tuple(o for o in others if picture.is_below_guarantee(o.demand.job.team))
    entitled = tuple(o for o in others if o.job_id in picture.admission.guaranteed)
    ahead = tuple(
        o
        for o in picture.owed
        if o.demand.job.team == own.team and o.demand.job.priority > own.priority
    )
    shares_surplus = picture.pool.reclaim.target is ReclaimTarget.FAIR_SHARE
    beyond = (
        JobReason.FAIR_SHARE if shares_surplus else JobReason.RECLAIM_GUARANTEE
    )  # of a parent team
    candidates = (
        (short if picture.is_above_guarantee(own.team) else (), JobReason.RECLAIM_GUARANTEE),
        (ahead, JobReason.BEHIND_HIGHER_PRIORITY),
        (short, JobReason.RECLAIM_GUARANTEE),
        (entitled, beyond),
    )
    claims = (Cause(reason=reason, beneficiaries=by) for by, reason in candidates if by)
    return next(claims, None)


def _lost_workers(outcome: AllocationOutcome, picture: PoolPicture) -> bool:
    """Nobody takes them from a job below its smallest size."""
    losses = picture.changed(ChangeKind.WORKER_LOST)
    job = picture.jobs[outcome.job_id]
    return outcome.demand.held < job.min_workers or any(c.name == job.job_id for c in losses)


def _is_drained(outcome: AllocationOutcome, picture: PoolPicture) -> bool:
    """True if it stands on a node that is being drained."""
    draining = {node.name for node in picture.pool.nodes if node.is_draining}
    held = outcome.demand.allocation
    return held is not None and any(node in draining for node, _ in held.workers_by_node)


def _why_it_stays(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:
    if outcome.demand.is_pinned:
        return Cause(reason=JobReason.NOT_RESCALABLE)
    if outcome.is_fragmented:
        return Cause(reason=JobReason.FRAGMENTED)
    if is_cooling(outcome.demand, picture.now):
        return Cause(reason=JobReason.COOLDOWN)
    return Cause(reason=JobReason.BEST_ALLOCATION)


def _why_it_starts(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:
    if picture.guests_of(outcome):
        return Cause(reason=JobReason.RESERVATION)
    if outcome.job_id in picture.owed_ids and _is_given_back(outcome, picture):
        return Cause(reason=JobReason.RECLAIM_GUARANTEE)
    return Cause(reason=JobReason.JOB_ARRIVED)


def _why_it_changes(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:  # noqa: PLR0911 - one for each reason
    if outcome.substitution is not None:
        return Cause(reason=JobReason.STRAGGLER)
    if _is_asked_for(outcome):
        return Cause(reason=JobReason.APPLICATION_METRIC)
    if any(c.name == outcome.job_id for c in picture.changed(ChangeKind.TERMS_CHANGED)):
        return Cause(reason=JobReason.TERMS_CHANGED)
    if any(c.name == outcome.job_id for c in picture.changed(ChangeKind.IDLE)):
        return Cause(reason=JobReason.IDLE)
    if outcome.gains:
        return Cause(reason=_why_it_grows(outcome, picture))
    if outcome.loses:
        return _why_it_shrinks(outcome, picture)
    if outcome.balance is not None:
        return Cause(reason=JobReason.DEFRAGMENT, beneficiaries=_started_thereby(outcome, picture))
    if outcome.demand.displaced_workers:
        return Cause(reason=JobReason.NODE_DRAINED)
    return Cause(reason=JobReason.BATCH_RETUNE)


def _is_asked_for(outcome: AllocationOutcome) -> bool:
    """True if its application asks for a change in this direction."""
    reading = reading_of(outcome.demand.job)
    wish = reading.wish if reading else ScalingDirection.STAY
    return (outcome.gains and wish is ScalingDirection.GROW) or (
        outcome.loses and wish is ScalingDirection.SHRINK
    )


def _started_thereby(
    outcome: AllocationOutcome, picture: PoolPicture
) -> tuple[AllocationOutcome, ...]:
    for_job = outcome.balance.for_job if outcome.balance else None
    return () if for_job is None else (picture.by_id[for_job],)


def _why_it_grows(outcome: AllocationOutcome, picture: PoolPicture) -> JobReason:
    """The first that holds, most telling first."""
    job = outcome.demand.job
    tries_more = job.rescales == 0 or outcome.gpus_after > _largest_measured(outcome)
    candidates = (
        (_lost_workers(outcome, picture), JobReason.NODE_LOST),
        (_is_given_back(outcome, picture), JobReason.RECLAIM_GUARANTEE),
        (picture.changed(ChangeKind.NODE_JOINED), JobReason.NODE_JOINED),
        (picture.changed(ChangeKind.JOB_FINISHED), JobReason.JOB_FINISHED),
        (picture.losers, JobReason.FAIR_SHARE),
        (tries_more, JobReason.SCALING_EFFICIENT),
    )
    return next((reason for holds, reason in candidates if holds), JobReason.BEST_ALLOCATION)


def _why_it_shrinks(outcome: AllocationOutcome, picture: PoolPicture) -> Cause:  # noqa: PLR0911 - one for each reason
    team = outcome.demand.job.team
    if picture.claimants and picture.is_above_guarantee(team):
        return Cause(reason=JobReason.RECLAIM_GUARANTEE, beneficiaries=picture.claimants)
    limit = picture.quotas[team].limit_gpus
    if limit is not None and picture.held_by_team[team] > limit:
        return Cause(reason=JobReason.EXCEEDS_LIMIT)
    job = outcome.demand.job
    room = picture.users.of(job)
    if room is not None and picture.held_by_user[team, job.user] > room.here:
        return Cause(reason=JobReason.EXCEEDS_LIMIT)
    if outcome.demand.displaced_workers:
        return Cause(reason=JobReason.NODE_DRAINED)
    if picture.starts:
        return Cause(reason=JobReason.JOB_ARRIVED, beneficiaries=picture.starts)
    if _is_hardly_slower(outcome):
        return Cause(reason=JobReason.SCALING_INEFFICIENT)
    if picture.changed(ChangeKind.NODE_LOST):
        return Cause(reason=JobReason.NODE_LOST, beneficiaries=picture.gainers)
    return Cause(reason=JobReason.FAIR_SHARE, beneficiaries=picture.gainers)


def _is_given_back(outcome: AllocationOutcome, picture: PoolPicture) -> bool:
    """True if it gets GPUs its team is guaranteed from jobs of teams that borrowed them."""
    return bool(picture.givers_back) and picture.is_below_guarantee(outcome.demand.job.team)


def _is_hardly_slower(outcome: AllocationOutcome) -> bool:
    before, after = outcome.demand.present, outcome.size
    if before is None or after is None:
        return False
    return after.speedup >= (1 - _HARDLY_SLOWER) * before.speedup


def _largest_measured(outcome: AllocationOutcome) -> int:
    job = outcome.demand.job
    return job.scaling.measured_workers * job.gpus_per_worker if job.scaling else 0
