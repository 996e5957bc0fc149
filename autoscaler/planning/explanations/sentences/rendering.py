"""How is an explanation said to people? One or two sentences with numbers, in users' words.

The only place where words are made. A sentence knows nothing but the value it is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    Dropped,
    GpuOrigin,
    Hindrance,
    Paused,
    Refused,
    Rescaled,
    Running,
    Started,
    Waiting,
)
from autoscaler.planning.explanations.sentences.change_sentences import rescaled
from autoscaler.planning.explanations.sentences.pool_sentences import of_pools
from autoscaler.planning.explanations.sentences.straggler_sentences import stays
from autoscaler.planning.explanations.sentences.waiting_sentences import dropped, refused, waiting
from autoscaler.planning.explanations.sentences.wording import (
    gpus,
    job_name,
    moment,
    names,
    of_user,
    one_more,
    owed,
    percent,
    plural,
    speed_up,
    workers,
)

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Explanation, NextStep, Reserved


def render(explanation: Explanation) -> str:  # noqa: PLR0911 - one for each kind
    match explanation:
        case Running():
            keeps = f"Keeps {workers(explanation.workers)}{_why_not_more(explanation)}."
            return keeps + (f" {stays(explanation.straggler)}" if explanation.straggler else "")
        case Started():
            return _started(explanation)
        case Rescaled():
            return rescaled(explanation)
        case Paused():
            return _paused(explanation)
        case Waiting():
            return waiting(explanation)
        case Refused():
            return refused(explanation)
        case Dropped():
            return dropped(explanation)


def _why_not_more(running: Running) -> str:  # noqa: PLR0911 - one for each hindrance
    match running.hindrance:
        case Hindrance.FIXED:
            return ": a job of mode fixed never changes its size"
        case Hindrance.CHANGING:
            return " until the change under way is over"
        case Hindrance.FRAGMENTED:
            return ": no node has enough free GPUs together for another worker"
        case Hindrance.COOLDOWN if running.cooldown is not None:
            since, interval = running.cooldown.seconds_ago, running.cooldown.min_interval_seconds
            return f": changed {since:.0f} s ago, and its min_interval is {interval:.0f} s"
        case Hindrance.UNMEASURED:
            return " until its speed has been measured there"
        case Hindrance.UNMEASURABLE:
            return ": in restart mode nothing reports its speed, so it is guessed"
        case Hindrance.PLAIN:
            return (
                ": its script neither registers nor forms a process group, so each further worker"
                " would do the same work once more; if they do share it, say `mode: restart`"
            )
        case Hindrance.TEAM_LIMIT | Hindrance.USER_LIMIT:
            return f": {_limit_reached(running)}"
        case _ if running.next_step is not None:
            return f": {_step(running, running.next_step)}"
        case _:
            return ", the most it may use"


def _limit_reached(running: Running) -> str:
    if running.hindrance is Hindrance.USER_LIMIT and running.user is not None:
        return of_user(running.user, running.team.team)
    return f"team {running.team.team} is at its limit of {gpus(running.team.limit_gpus or 0)}"


def _step(running: Running, step: NextStep) -> str:
    would = f"{one_more(running.workers, step.workers)} would {speed_up(step.gain)}"
    if running.hindrance is not Hindrance.RIVAL or running.rival is None:
        return would
    rival = f"{job_name(running.rival.job)} {percent(running.rival.gain)}"
    return f"{would}; the same {plural(step.gpus, 'GPU gives', 'GPUs give')} {rival}"


def _started(started: Started) -> str:
    how = f"{workers(started.workers)} ({gpus(started.gpus)}, {_whose(started)})"
    first = "" if started.is_measured else " Grows once its speed has been measured there."
    choice = of_pools(started.pools)
    starts = f"Starts on {how} with a global batch of {started.global_batch_size}.{first}"
    return f"{starts} {choice}" if choice else starts


def _whose(started: Started) -> str:
    team, guaranteed = started.team.team, started.team.guaranteed_gpus
    of_team = f"the {gpus(guaranteed)} guaranteed to team {team}"
    match started.origin:
        case GpuOrigin.GUARANTEE:
            return f"within {of_team}"
        case GpuOrigin.PARTLY_BORROWED:
            return f"{of_team} and borrowed ones"
        case GpuOrigin.BORROWED:
            return f"borrowed: team {team} is guaranteed {guaranteed}"
        case GpuOrigin.RETURNED:
            give = plural(started.givers.count, "gives", "give")
            givers = names(started.givers) if started.givers.count else "the team itself"
            return f"which {givers} {give} back: team {team} is guaranteed {guaranteed}"
        case GpuOrigin.RESERVED:
            give = plural(started.givers.count, "gives", "give")
            return f"saved up for it; {names(started.givers)} {give} way"


def _paused(paused: Paused) -> str:
    if paused.reason is JobReason.NODE_DRAINED:
        return "Paused after a checkpoint: its node is being drained, and no other has room for it."
    if paused.reason is JobReason.RESERVATION and paused.reserved is not None:
        return _end_of_stay(paused, paused.reserved)
    if paused.reason is JobReason.BEHIND_HIGHER_PRIORITY and paused.takers.count:
        room = f"room for {names(paused.takers)} of its team"
        return f"Paused after a checkpoint: {room}, whose priority is higher."
    if paused.owed is None:
        return (
            f"Paused after a checkpoint: it needs {gpus(paused.needed_gpus)} at least, and pool "
            f"{paused.pool} has {paused.gpus_left} left."
        )
    given = gpus(paused.gpus_given)
    return f"Paused after a checkpoint, giving back {given} it borrowed: {owed(paused.owed)}."


def _end_of_stay(guest: Paused, due: Reserved) -> str:
    used, reserved = gpus(guest.gpus_given), gpus(due.gpus)
    return (
        f"Paused after a checkpoint: it used {used} as a guest, and {job_name(due.job)}, for which "
        f"{reserved} have been reserved since {moment(due.since)}, now has them all."
    )
