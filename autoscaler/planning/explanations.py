"""How is a decision said to people? The sentences for jobs that run, rendered from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import ChangeKind
from autoscaler.planning.decisions import Action, Reason
from autoscaler.planning.demand import next_larger
from autoscaler.planning.waiting_explanations import waiting_message
from autoscaler.planning.wording import (
    changes_speed,
    gpus,
    names,
    one_more,
    percent,
    plural,
    speed_up,
    workers,
)

if TYPE_CHECKING:
    from autoscaler.planning.outcome import Outcome, PoolPicture
    from autoscaler.planning.reasons import Cause


def message_of(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:
    """One or two sentences with numbers, in users' words."""
    match outcome.action:
        case Action.WAIT:
            return waiting_message(outcome, cause, picture)
        case Action.PAUSE:
            return _paused(outcome, cause, picture)
        case Action.START:
            return _started(outcome, cause, picture)
        case Action.KEEP:
            return _kept(outcome, cause, picture)
        case Action.RESCALE:
            return f"{_from_to(outcome)}: {_because(outcome, cause, picture)}."


def _started(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:
    size, team = outcome.size, outcome.demand.job.team
    assert size is not None  # noqa: S101 - a start has a size
    guaranteed = picture.quotas[team].guaranteed_gpus
    if cause.reason is Reason.RECLAIM_GUARANTEE:
        givers = [loser for loser in picture.losers if loser.demand.job.team != team]
        give = plural(len(givers), "gives", "give")
        whose = f"which {names(givers)} {give} back: team {team} is guaranteed {guaranteed}"
    elif outcome.job_id in picture.admission.guaranteed:
        of_team = f"the {gpus(guaranteed)} guaranteed to team {team}"
        whose = (
            f"{of_team} and borrowed ones"
            if outcome.gpus_after > guaranteed
            else f"within {of_team}"
        )
    else:
        whose = f"borrowed: team {team} is guaranteed {guaranteed}"
    how = f"{workers(size.workers)} ({gpus(outcome.gpus_after)}, {whose})"
    first = "" if size.samples_per_second else " Grows once its speed has been measured there."
    return f"Starts on {how} with a global batch of {size.global_batch_size}.{first}"


def _paused(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:
    given = gpus(outcome.gpus_before)
    if cause.reason is Reason.NODE_LOST:
        asked = gpus(outcome.demand.needed_gpus)
        return (
            f"Paused after a checkpoint: it needs {asked} at least, and pool {picture.pool.name} "
            f"has {picture.admission.gpus_free} left."
        )
    return f"Paused after a checkpoint, giving back {given} it borrowed: {_owed(cause, picture)}."


def _kept(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:
    keeps = f"Keeps {workers(outcome.demand.held)}"
    if cause.reason is Reason.NOT_RESCALABLE:
        if outcome.demand.job.can_pause:
            return f"{keeps}: a job of mode fixed never changes its size."
        return f"{keeps} until the change under way is over."
    if cause.reason is Reason.FRAGMENTED:
        return f"{keeps}: no node has enough free GPUs together for another worker."
    if cause.reason is Reason.COOLDOWN:
        interval = outcome.demand.job.min_interval_seconds
        since = picture.now - (outcome.demand.job.last_rescaled_at or picture.now)
        return f"{keeps}: changed {since:.0f} s ago, and its min_interval is {interval:.0f} s."
    return f"{keeps}{_why_not_more(outcome, picture)}."


def _why_not_more(outcome: Outcome, picture: PoolPicture) -> str:
    demand, present = outcome.demand, outcome.demand.present
    larger = next_larger(demand, demand.held)
    if present is None or larger is None:
        return ", the most it may use"
    if not present.samples_per_second or larger in demand.larger:
        return " until its speed has been measured there"
    limit = picture.quotas[demand.job.team].limit_gpus
    step = (larger.workers - demand.held) * demand.job.gpus_per_worker
    if limit is not None and picture.planned_by_team[demand.job.team] + step > limit:
        return f": team {demand.job.team} is at its limit of {gpus(limit)}"
    gain = larger.speedup / present.speedup - 1
    rival = _rival(outcome, picture)
    would = f": {one_more(demand.held, larger.workers)} would {speed_up(gain)}"
    if rival is None or picture.gpus_free_now >= step:
        return would
    other, its_gain = rival
    return f"{would}; the same {plural(step, 'GPU gives', 'GPUs give')} {other} {percent(its_gain)}"


def _rival(outcome: Outcome, picture: PoolPicture) -> tuple[str, float] | None:
    """The job that gains most from the last step it was given."""
    gains = {
        other.demand.job.name: gain
        for other in picture.outcomes
        if other.job_id != outcome.job_id and (gain := _last_gain(other)) is not None
    }
    best = max(gains, key=lambda name: (gains[name], name), default=None)
    return None if best is None else (best, gains[best])


def _last_gain(outcome: Outcome) -> float | None:
    size = outcome.size
    if size is None or not size.samples_per_second:
        return None
    below = [s for s in outcome.demand.sizes if s.workers < size.workers]
    return size.speedup / below[-1].speedup - 1 if below else None


def _from_to(outcome: Outcome) -> str:
    size = outcome.size
    before = outcome.demand.held
    assert size is not None  # noqa: S101 - a rescale has a size
    if size.workers == before and outcome.demand.allocation is not None:
        old = outcome.demand.allocation.global_batch_size
        verb = "Raised" if size.global_batch_size > old else "Lowered"
        return f"{verb} the global batch from {old} to {size.global_batch_size}"
    verb = "Grown" if size.workers > before else "Shrunk"
    return f"{verb} from {before} to {workers(size.workers)}"


def _because(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:  # noqa: PLR0911 - one for each reason
    team = outcome.demand.job.team
    match cause.reason:
        case Reason.RECLAIM_GUARANTEE if outcome.loses:
            return _owed(cause, picture)
        case Reason.RECLAIM_GUARANTEE:
            held, promised = picture.held_by_team[team], picture.quotas[team].guaranteed_gpus
            return f"team {team} takes back its guarantee, it held {held} of {gpus(promised)}"
        case Reason.JOB_ARRIVED:
            starts = plural(len(cause.beneficiaries), "starts", "start")
            return f"room for {names(cause.beneficiaries)}, which {starts} now"
        case Reason.EXCEEDS_LIMIT:
            limit = picture.quotas[team].limit_gpus or 0
            return f"team {team} held {picture.held_by_team[team]}, its limit is {gpus(limit)}"
        case Reason.NODE_LOST if outcome.gains:
            return "a lost worker is replaced"
        case Reason.NODE_LOST:
            return f"pool {picture.pool.name} lost a node and has {gpus(picture.gpus_total)} left"
        case _:
            return f"{_occasion(outcome, cause, picture)}{_effect(outcome)}"


def _occasion(outcome: Outcome, cause: Cause, picture: PoolPicture) -> str:
    match cause.reason:
        case Reason.FAIR_SHARE if outcome.loses:
            return f"{names(cause.beneficiaries)} can use the GPUs better; "
        case Reason.FAIR_SHARE:
            return f"{names(picture.losers)} {plural(len(picture.losers), 'gives', 'give')} way; "
        case Reason.JOB_FINISHED:
            finished = picture.changed(ChangeKind(cause.reason.value))
            return f"{', '.join(finished)} finished; " if finished else "GPUs became free; "
        case Reason.NODE_JOINED:
            return f"{', '.join(picture.changed(ChangeKind(cause.reason.value)))} joined the pool; "
        case _:
            return ""


def _effect(outcome: Outcome) -> str:
    before, after = outcome.demand.present, outcome.size
    assert before is not None  # noqa: S101 - a rescale has a size before
    assert after is not None  # noqa: S101 - and one after
    if not before.samples_per_second or not after.samples_per_second:
        return "its speed there is not measured yet"
    return (
        f"{changes_speed(after.speedup / before.speedup - 1)}, from "
        f"{before.samples_per_second:.0f} to {after.samples_per_second:.0f} samples/s"
    )


def _owed(cause: Cause, picture: PoolPicture) -> str:
    first = cause.beneficiaries[0].demand.job
    quota, held = picture.quotas[first.team], picture.held_by_team[first.team]
    taken = sum(taker.gpus_after - taker.gpus_before for taker in cause.beneficiaries)
    missing = min(max(quota.guaranteed_gpus - held, 0), taken)
    return (
        f"team {first.team} is owed {missing} of its {quota.guaranteed_gpus} guaranteed "
        f"{plural(quota.guaranteed_gpus, 'GPU', 'GPUs')} for {names(cause.beneficiaries)}"
    )
