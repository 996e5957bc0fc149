"""Why was a team not given what it was owed? One cause for each job that waited for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from autoscaler.coded_words import CodedWord
from autoscaler.job_vocabulary import JobReason


class ShortfallCause(CodedWord):
    """What kept GPUs from a team that they were guaranteed to."""

    RECLAIM = (
        "reclaim",
        "Reclaim in progress: others had borrowed the GPUs, and were giving them back.",
    )
    STARTING = (
        "starting",
        "About to start: it was decided that the job gets its GPUs, and not yet carried out.",
    )
    NODES_LOST = (
        "nodes_lost",
        "Nodes lost or closed: fewer GPUs were open than teams are promised together.",
    )
    FRAGMENTED = (
        "fragmented",
        "Scattered GPUs: enough were free, but no node had enough of them together.",
    )
    NOT_GIVEN_BACK = (
        "not_given_back",
        "Others kept them: who held the GPUs did not have to give them back yet.",
    )
    OWN_ORDER = (
        "own_order",
        "Behind another job: one that comes first was to have the GPUs before.",
    )
    OWN_LIMITS = (
        "own_limits",
        "Own limits: a limit of the team, of one above, of a user or an array, or its full disk.",
    )
    BUDGET = ("budget", "Budget used up: the GPU-hours of the month, of it or of a team above.")
    PREPARING = ("preparing", "Being prepared: the job's data or code was still being fetched.")
    NOT_PLANNED = ("not_planned", "Not planned: the planner decided nothing about the job.")


_CAUSES: Final[Mapping[JobReason, ShortfallCause]] = {
    JobReason.WAITING_FOR_RECLAIM: ShortfallCause.RECLAIM,
    JobReason.FRAGMENTED: ShortfallCause.FRAGMENTED,
    JobReason.BEHIND_HIGHER_PRIORITY: ShortfallCause.OWN_ORDER,
    JobReason.WAITING_FOR_QUOTA: ShortfallCause.OWN_LIMITS,
    JobReason.WAITING_FOR_USER_LIMIT: ShortfallCause.OWN_LIMITS,
    JobReason.EXCEEDS_LIMIT: ShortfallCause.OWN_LIMITS,
    JobReason.TEAM_JOB_LIMIT: ShortfallCause.OWN_LIMITS,
    JobReason.ARRAY_LIMIT: ShortfallCause.OWN_LIMITS,
    JobReason.TEAM_DISK_FULL: ShortfallCause.OWN_LIMITS,
    JobReason.TEAM_BUDGET_USED_UP: ShortfallCause.BUDGET,
    JobReason.PREPARING: ShortfallCause.PREPARING,
}
_GIVEN_BACK_FIRST: Final = frozenset({JobReason.RECLAIM_GUARANTEE, JobReason.RESERVATION})
_OF_THE_POOL: Final = frozenset(
    {JobReason.WAITING_FOR_CAPACITY, JobReason.WAITING_FOR_FAIR_SHARE, JobReason.EXCEEDS_LIMIT}
)


def cause_of(reason: JobReason | None, *, starts: bool, open_gpus: int, promised: int) -> str:
    """Return the cause, by why the job waited; None: nothing was decided about it.

    `promised` is what all teams are promised of the pool, `open_gpus` what it could give.
    """
    if reason is None:
        return ShortfallCause.NOT_PLANNED
    if starts:
        return ShortfallCause.RECLAIM if reason in _GIVEN_BACK_FIRST else ShortfallCause.STARTING
    if reason in _OF_THE_POOL and open_gpus < promised:
        return ShortfallCause.NODES_LOST
    return _CAUSES.get(reason, ShortfallCause.NOT_GIVEN_BACK)
