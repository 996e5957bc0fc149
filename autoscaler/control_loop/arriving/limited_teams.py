"""Which queued jobs wait because their team may run no more, or has no GPU-hours left?

The planner does not see them. Of a team that may run so many jobs, those that come first are let
through: by priority, then by age. A job that waits for GPUs keeps its place, so that small jobs do
not overtake a large one for ever; one that can never start as it is stands behind all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason
from jobs.commands import quarantine
from jobs.commands.quarantine import Part

_NEVER_STARTS: Final = frozenset({JobReason.EXCEEDS_LIMIT, JobReason.PLANNING_FAILED})


class _LimitedPlace(NamedTuple):
    """What may be full: a team, or what one user may have of it."""

    team_id: int
    user: str  # empty: all of them


def held_back(
    views: Collection[LiveJob], lacking: Collection[str], context: TickContext
) -> Mapping[str, StartPrerequisite]:
    """Return by job what it waits for; it is told. Those that lack something take no place."""
    if not context.around.teams_with_limits:
        return {}
    queued = [view for view in views if view.is_queued and view.id not in lacking]
    found = {
        view.id: StartPrerequisite(
            note=budget.why_it_waits(), waits_as=JobReason.TEAM_BUDGET_USED_UP
        )
        for view in queued
        if (budget := context.used_up_budget(view.job.team_id)) is not None
    }
    found |= _beyond_the_limits(views, [one for one in queued if one.id not in found], context)
    tell(queued, found, context)
    return found


def _beyond_the_limits(
    views: Iterable[LiveJob], queued: Sequence[LiveJob], context: TickContext
) -> dict[str, StartPrerequisite]:
    if not queued:
        return {}
    planning = quarantine.left_out(Part.PLANNING, context.now)
    unplanned = planning.job_ids | planning.on_trial
    taken: Counter[_LimitedPlace] = Counter()
    for view in views:
        if view.may_hold_gpus:
            taken.update(place for place, _ in _places(view, context))
    found = {}
    for view in sorted(queued, key=lambda one: (one.id in unplanned, *_turn(one))):
        if view.job.not_before is not None and view.job.not_before > context.now:
            continue  # it waits out a back-off, and does not start in this tick
        places = _places(view, context)
        full = next((one for one in places if taken[one[0]] >= one[1]), None)
        if full is None:
            taken.update(place for place, _ in places)
        else:
            found[view.id] = _waiting_for(*full, context)
    return found


def _places(view: LiveJob, context: TickContext) -> list[tuple[_LimitedPlace, int]]:
    """Return what it takes a place of, and how many of these there are."""
    return list(_places_of(view.job.team_id, view.job.submitted_by, context))


def _places_of(
    team_id: int, user: str, context: TickContext
) -> Iterator[tuple[_LimitedPlace, int]]:
    for team in context.around.tree.line(team_id):
        limits = context.around.teams_with_limits.get(team.pk)
        if limits is None:
            continue
        if limits.max_running_jobs is not None:
            yield _LimitedPlace(team.pk, ""), limits.max_running_jobs
        if limits.max_running_jobs_per_user is not None:
            yield _LimitedPlace(team.pk, user), limits.max_running_jobs_per_user


def _turn(view: LiveJob) -> tuple[bool, int, float, str]:
    job = view.job
    never = job.explanation.get("reason") in _NEVER_STARTS or job.reason in _NEVER_STARTS
    return never, -job.priority, job.submitted_at.timestamp(), job.id


def _waiting_for(place: _LimitedPlace, most: int, context: TickContext) -> StartPrerequisite:
    """Say what it waits for, with the same words for all that wait for the same."""
    team = context.around.teams[place.team_id].name
    if place.user:
        may = f"Whoever submitted it may run {_jobs(most)} at once in team {team}"
        limit, who = "max_running_jobs_per_user", f"a lead of team {team}"
    else:
        may = f"Team {team} may run {_jobs(most)} at once"
        limit, who = "max_running_jobs", "a lead of a team above"
    return StartPrerequisite(
        note=f"{may} (`{limit}`), and as many run or come before this one. It starts after one of"
        f" them has ended, or when {who} or an admin raises the limit",
        waits_as=JobReason.TEAM_JOB_LIMIT,
        is_news=False,
    )


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"
