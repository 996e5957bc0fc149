"""How is waiting said to people? What a job waits for, and what stands in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import Closing, RemedyKind
from autoscaler.planning.explanations.sentences.pool_sentences import of_pools
from autoscaler.planning.explanations.sentences.wording import (
    gpus,
    job_name,
    moment,
    names,
    of_user,
    plural,
    workers,
)

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Dropped, Refused, Reserved, Waiting
    from autoscaler.planning.placement.fragmentation import Fragmentation

_NODES_NAMED: Final = 4
_SHORT_OF_GPUS: Final = {JobReason.WAITING_FOR_CAPACITY, JobReason.FRAGMENTED}
_WHY_CLOSED: Final = {
    Closing.CORDONED: "is cordoned",
    Closing.DRAINING: "is being drained",
    Closing.SILENT: "does not answer",
}
_SHARED_OUT: Final = {JobReason.WAITING_FOR_FAIR_SHARE, JobReason.BEHIND_HIGHER_PRIORITY}


def waiting(job: Waiting) -> str:
    waits = f"Waits for {_for_what(job)}."
    parts = (waits, _closed(job), _claim(job), _place(job), of_pools(job.pools))
    return " ".join(filter(None, parts))


def _for_what(job: Waiting) -> str:  # noqa: PLR0911 - one for each reason
    needs = gpus(job.needed_gpus)
    match job.reason:
        case JobReason.WAITING_FOR_USER_LIMIT if job.user is not None:
            return f"{needs}: {of_user(job.user, job.team.team)}"
        case JobReason.WAITING_FOR_QUOTA:
            return f"{needs}: {_quota_in_the_way(job)}"
        case JobReason.FRAGMENTED if job.fragmentation is not None:
            return _scattered(job, job.fragmentation)
        case JobReason.WAITING_FOR_RECLAIM if job.is_owed:
            return f"{needs} of its team's guarantee: {_coming_back(job)}"
        case JobReason.WAITING_FOR_RECLAIM:
            return f"{needs}: {_blocker(job)} is owed what is free"
        case JobReason.BEHIND_HIGHER_PRIORITY:
            return f"{needs}: {_first(job)}"
        case _:
            own = f", {_reserved(job.reserved)}" if job.reserved else f": {_what_is_free(job)}"
            return f"{needs}{own}; {_holders(job)}"


def _first(job: Waiting) -> str:
    if job.reserved is None:
        return f"{_blocker(job)} needs more, has waited longer and comes first"
    return f"{_blocker(job)} comes first, with {gpus(job.reserved.gpus)} {_reserved(job.reserved)}"


def _reserved(reserved: Reserved) -> str:
    """`reserved for it since ... (1 of them saved up so far, all expected by ...)`."""
    expected = reserved.promised_at
    by = "" if expected is None else f", all expected by {moment(expected)}"
    saved = reserved.saved_gpus or "none"
    return f"reserved for it since {moment(reserved.since)} ({saved} of them saved up so far{by})"


def _scattered(job: Waiting, fragmentation: Fragmentation) -> str:
    """Say what it needs on one node each, what is free where, and whether moves would help."""
    shown = fragmentation.free_by_node[:_NODES_NAMED]
    free = ", ".join(f"{node} {count}" for node, count in shown) or "none"
    unnamed = fragmentation.nodes_free - len(shown)
    others = f" and {unnamed} nodes more" if unnamed > 0 else ""
    needs = f"{workers(fragmentation.workers)} of {gpus(fragmentation.gpus_per_worker)}"
    remedy = f"; moving {names(job.movable)} would cost more than it brings"
    return (
        f"{needs}, each on one node; free: {free}{others} ({fragmentation.gpus_free} in all)"
        f"{remedy if job.movable.count else ''}"
    )


def _quota_in_the_way(job: Waiting) -> str:
    team = job.team
    limit = team.limit_gpus
    if limit is not None and team.planned_gpus + job.needed_gpus > limit:
        return f"team {team.team} uses {team.planned_gpus} of its limit of {gpus(limit)}"
    if job.is_non_preemptible:
        promised = f"uses {team.planned_gpus} of its {gpus(team.guaranteed_gpus)}"
        return (
            "it is non-preemptible and may not borrow what others are guaranteed; team "
            f"{team.team} {promised if team.guaranteed_gpus else 'is guaranteed none'}"
        )
    return f"the other jobs of team {team.team} leave no room under its limit"


def _coming_back(job: Waiting) -> str:
    if job.givers.count:
        return f"{names(job.givers)} {plural(job.givers.count, 'gives', 'give')} GPUs back"
    return f"{gpus(job.free_gpus)} free, the rest is being given back"


def _blocker(job: Waiting) -> str:
    return "another job" if job.blocker is None else job_name(job.blocker)


def _what_is_free(job: Waiting) -> str:
    free = job.available_gpus
    if free == 0 and _is_all_closed(job):
        return f"no node of pool {job.pool} takes new work"
    if free == 0:
        return "none is free, and the running jobs are at their smallest sizes"
    return f"{free} {plural(free, 'is', 'are')} free or can be freed by shrinking others"


def _holders(job: Waiting) -> str:
    """`vision holds 3 of 4 (1 borrowed), language 1`, most first."""
    parts: list[str] = []
    for holder in job.holders:
        loan = f" ({holder.borrowed_gpus} borrowed)" if holder.borrowed_gpus else ""
        verb = f" holds {holder.gpus} of {job.pool_gpus}" if not parts else f" {holder.gpus}"
        parts.append(f"{holder.team}{verb}{loan}")
    return ", ".join(parts) or "nobody holds any"


def _is_all_closed(job: Waiting) -> bool:
    return job.closed_nodes_count > 0 and job.open_gpus == 0


def _closed(job: Waiting) -> str:
    """Nodes that would have GPUs if they took new work, and who can change that."""
    if job.reason not in _SHORT_OF_GPUS or not job.closed_nodes:
        return ""
    can_be_opened = any(node.closing is not Closing.SILENT for node in job.closed_nodes)
    if job.closed_nodes_count == 1:
        (node,) = job.closed_nodes
        who = "; an admin can let it take work again" if can_be_opened else ""
        return f"Node {node.name} ({gpus(node.gpus)}) {_WHY_CLOSED[node.closing]}{who}."
    named = [f"{node.name} ({gpus(node.gpus)}, {node.closing})" for node in job.closed_nodes]
    unnamed = job.closed_nodes_count - len(named)
    others = f" and {unnamed} more" if unnamed else ""
    who = "; an admin can let them take work again" if can_be_opened else ""
    return f"Nodes that take no new work: {', '.join(named)}{others}{who}."


def _claim(job: Waiting) -> str:
    """Return what its team uses and may claim, where nothing else tells."""
    if job.reason not in _SHARED_OUT:
        return ""
    team = job.team
    return (
        f"Team {team.team} uses {gpus(team.planned_gpus)} and has a claim to {team.entitled_gpus}."
    )


def _place(job: Waiting) -> str:
    if job.reason is not JobReason.WAITING_FOR_CAPACITY or job.position is None:
        return ""
    return "Next in the queue." if job.position == 1 else f"Number {job.position} in the queue."


def refused(job: Refused) -> str:
    needs = f"Cannot start: its smallest size needs {gpus(job.needed_gpus)}"
    limit = job.team.limit_gpus
    if job.user is not None and job.needed_gpus > job.user.limit_gpus:
        whose = f"one person or token in team {job.team.team} (max_gpus_per_user)"
        return f"{needs}, the limit of {whose} is {job.user.limit_gpus}. {_advice(job)}"
    if limit is not None and job.needed_gpus > limit:
        return f"{needs}, the limit of team {job.team.team} is {limit}. {_advice(job)}"
    if job.needed_gpus > job.pool_gpus:
        return f"{needs}, pool {job.pool} has {job.pool_gpus}. {_advice(job)}"
    return (
        f"Cannot start: no allowed number of workers with {gpus(job.gpus_per_worker)} each fits "
        f"pool {job.pool} of {gpus(job.pool_gpus)} and the range of batch sizes."
    )


def dropped(job: Dropped) -> str:
    team, limit = job.team, job.team.limit_gpus
    needs = f"it needs {gpus(job.needed_gpus)} at least"
    if limit is not None and team.planned_gpus + job.needed_gpus > limit:
        why = f"team {team.team} uses {team.planned_gpus} of its limit of {gpus(limit)}"
    else:
        free = job.available_gpus
        left = f"{free} {plural(free, 'is', 'are')}" if free else "none is"
        why = f"{left} left when every job there is at its smallest size"
    return (
        f"Refused: {needs}, and pool {job.pool} drops what does not fit; {why}. "
        "Submit it again later, with fewer min_workers, or to a pool that queues."
    )


def _advice(job: Refused) -> str:
    limits = (job.team.limit_gpus, job.user.limit_gpus if job.user else None)
    limit = min((one for one in limits if one is not None), default=None)
    fewer = "Lower min_workers"
    if job.remedy is not None and job.remedy.kind is RemedyKind.FEWER_WORKERS:
        fewer = f"Lower min_workers to {job.remedy.workers}"
    if limit is not None and limit < job.needed_gpus <= job.pool_gpus:
        return f"{fewer}, or have the limit raised to {job.needed_gpus}."
    return f"{fewer}."
