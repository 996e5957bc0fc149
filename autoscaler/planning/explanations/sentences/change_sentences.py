"""How is a rescale said to people? From what to what, why, and what it brings and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.demand.application_metric import ScalingDirection
from autoscaler.planning.explanations.sentences.straggler_sentences import replaced
from autoscaler.planning.explanations.sentences.wording import (
    changes_speed,
    gpus,
    names,
    of_user,
    owed,
    plural,
    seconds,
    workers,
)

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Rescaled, UserShare
    from autoscaler.planning.demand.application_metric import MetricReading
    from autoscaler.planning.placement.fragmentation import MoveBalance

_MOVES: Final = {JobReason.DEFRAGMENT, JobReason.NODE_DRAINED}


def rescaled(change: Rescaled) -> str:
    if change.substitution is not None:
        return replaced(change.substitution)
    return f"{_from_to(change)}: {_because(change)}."


def _from_to(change: Rescaled) -> str:
    before, after = change.before, change.after
    if change.reason in _MOVES and after.workers == before.workers:
        return f"Moved to {', '.join(node for node, _ in change.places)}"
    if after.workers == before.workers:
        old, new = before.global_batch_size, after.global_batch_size
        return f"{'Raised' if new > old else 'Lowered'} the global batch from {old} to {new}"
    verb = "Grown" if after.workers > before.workers else "Shrunk"
    return f"{verb} from {before.workers} to {workers(after.workers)}"


def _because(change: Rescaled) -> str:  # noqa: PLR0911 - one for each reason
    team, is_growth = change.team, change.after.workers > change.before.workers
    match change.reason:
        case JobReason.RECLAIM_GUARANTEE if change.owed is not None:
            return owed(change.owed)
        case JobReason.RECLAIM_GUARANTEE:
            promised = gpus(team.guaranteed_gpus)
            held = f"it held {team.held_gpus} of {promised}"
            return f"team {team.team} takes back its guarantee, {held}"
        case JobReason.JOB_ARRIVED:
            starts = plural(change.takers.count, "starts", "start")
            return f"room for {names(change.takers)}, which {starts} now"
        case JobReason.EXCEEDS_LIMIT:
            return _limit_in_the_way(change)
        case JobReason.DEFRAGMENT if change.balance is not None:
            return _that_pays(change, change.balance)
        case JobReason.NODE_DRAINED:
            return "a node it was on is being drained"
        case JobReason.APPLICATION_METRIC if change.reading is not None:
            return f"{_asked_by(change.reading)}; {_effect(change)}"
        case JobReason.NODE_LOST if is_growth:
            return "a lost worker is replaced"
        case JobReason.NODE_LOST:
            return f"pool {change.pool} lost a node and has {gpus(change.pool_gpus)} left"
        case _:
            return f"{_occasion(change, is_growth=is_growth)}{_effect(change)}"


def _limit_in_the_way(change: Rescaled) -> str:
    team, user = change.team, change.user
    if user is not None and _held(user) > user.limit_gpus:
        return of_user(user, team.team, used=_held(user))
    return f"team {team.team} held {team.held_gpus}, its limit is {gpus(team.limit_gpus or 0)}"


def _held(user: UserShare) -> int:
    return user.held_gpus + user.elsewhere_gpus


def _asked_by(reading: MetricReading) -> str:
    side = "above" if reading.wish is ScalingDirection.GROW else "below"
    return f"its {reading.metric} of {reading.value:g} is {side} {reading.threshold:g}"


def _that_pays(change: Rescaled, balance: MoveBalance) -> str:
    gain, cost = balance.gain_gpu_seconds, balance.cost_gpu_seconds
    numbers = f"brings {gain:.0f} GPU-seconds for {cost:.1f} of standing still"
    if change.takers.count:
        return f"room for {names(change.takers)}, whose start {numbers}"
    return f"together on fewer nodes it is {_effect(change)}; that {numbers}"


def _occasion(change: Rescaled, *, is_growth: bool) -> str:  # noqa: PLR0911 - as above
    match change.reason:
        case JobReason.FAIR_SHARE if not is_growth:
            return f"{names(change.takers)} can use the GPUs better; "
        case JobReason.FAIR_SHARE:
            give = plural(change.givers.count, "gives", "give")
            return f"{names(change.givers)} {give} way; "
        case JobReason.JOB_FINISHED if change.finished.count:
            return f"{names(change.finished)} finished; "
        case JobReason.NODE_JOINED:
            return f"{', '.join(change.joined_nodes)} joined the pool; "
        case JobReason.TERMS_CHANGED:
            return "somebody changed what it may have; "
        case JobReason.IDLE:
            return "its workers do nothing, and its spec says to shrink then; "
        case _:
            return ""


def _effect(change: Rescaled) -> str:
    if not change.reports_speed:
        return "in restart mode nothing reports its speed, so it is guessed"
    if change.gain is None:
        return "its speed there is not measured yet"
    return (
        f"{changes_speed(change.gain)}, from {change.before.samples_per_second:.0f} to "
        f"{change.after.samples_per_second:.0f} samples/s, for a stall of about "
        f"{seconds(change.stall_seconds)}"
    )
