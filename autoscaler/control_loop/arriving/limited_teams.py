"""Which queued jobs wait because their team or array may run no more, or no GPU-hours are left?

The planner does not see them. Of a team that may run so many jobs, those that come first are let
through: by priority, then by age. A job that waits for GPUs keeps its place, so that small jobs do
not overtake a large one for ever; one that can never start as it is stands behind all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.outside.cluster_records import ClusterRecords
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason
from jobs.commands import quarantine
from jobs.commands.quarantine import Part

_NEVER_STARTS: Final = frozenset({JobReason.EXCEEDS_LIMIT, JobReason.PLANNING_FAILED})


class _LimitedPlace(NamedTuple):
    """What may be full: a team, what one user may have of it, or an array of jobs."""

    team_id: int | None
    user: str  # empty: all of them
    array_id: str = ""  # of whose jobs so many may run; empty: it is about a team


def held_back(
    views: Collection[LiveJob], lacking: Collection[str], context: TickContext
) -> Mapping[str, StartPrerequisite]:
    """Return by job what it waits for; it is told. Those that lack something take no place."""
    found = beyond_limits(views, lacking, context.around, context.now)
    tell(views, found, context)
    return found


def beyond_limits(
    views: Collection[LiveJob], lacking: Collection[str], around: ClusterRecords, now: datetime
) -> Mapping[str, StartPrerequisite]:
    """Return by job what it waits for, and tell nobody."""
    queued = [view for view in views if view.is_queued and view.id not in lacking]
    if not around.teams_with_limits and not any(view.job.array_limit for view in queued):
        return {}
    found = {
        view.id: StartPrerequisite(
            note=budget.why_it_waits(), waits_as=JobReason.TEAM_BUDGET_USED_UP
        )
        for view in queued
        if (budget := around.used_up_budget(view.job.team_id, now)) is not None
    }
    places = _PlacesOfTeams(around)
    return found | places.too_few_for([one for one in queued if one.id not in found], views, now)


@dataclass(frozen=True, slots=True)
class _PlacesOfTeams:
    """How many jobs of teams, of their users and of arrays may run at once."""

    around: ClusterRecords

    def too_few_for(
        self, queued: Sequence[LiveJob], views: Iterable[LiveJob], now: datetime
    ) -> dict[str, StartPrerequisite]:
        if not queued:
            return {}
        planning = quarantine.left_out(Part.PLANNING, now)
        unplanned = planning.job_ids | planning.on_trial
        taken: Counter[_LimitedPlace] = Counter()
        for view in views:
            if view.may_hold_gpus:
                taken.update(place for place, _ in self._of(view))
        found = {}
        for view in sorted(queued, key=lambda one: (one.id in unplanned, *_turn(one))):
            if view.job.not_before is not None and view.job.not_before > now:
                continue  # it waits out a back-off, and does not start in this tick
            places = list(self._of(view))
            full = next((one for one in places if taken[one[0]] >= one[1]), None)
            if full is None:
                taken.update(place for place, _ in places)
            else:
                found[view.id] = self._waiting_for(*full)
        return found

    def _of(self, view: LiveJob) -> Iterator[tuple[_LimitedPlace, int]]:
        """Yield what it takes a place of, and how many of these there are."""
        job = view.job
        if job.array_limit is not None and job.array_id is not None:
            yield _LimitedPlace(None, "", job.array_id), job.array_limit
        for team in self.around.tree.line(view.job.team_id):
            limits = self.around.teams_with_limits.get(team.pk)
            if limits is None:
                continue
            if limits.max_running_jobs is not None:
                yield _LimitedPlace(team.pk, ""), limits.max_running_jobs
            if limits.max_running_jobs_per_user is not None:
                user = view.job.submitted_by
                yield _LimitedPlace(team.pk, user), limits.max_running_jobs_per_user

    def _waiting_for(self, place: _LimitedPlace, most: int) -> StartPrerequisite:
        """Say what it waits for, with the same words for all that wait for the same."""
        if place.team_id is None:
            return _waiting_for_array(most)
        team = self.around.teams[place.team_id].name
        if place.user:
            may = f"Whoever submitted it may run {_jobs(most)} at once in team {team}"
            limit, who = "max_running_jobs_per_user", f"a lead of team {team}"
        else:
            may = f"Team {team} may run {_jobs(most)} at once"
            limit, who = "max_running_jobs", "a lead of a team above"
        return StartPrerequisite(
            note=f"{may} (`{limit}`), and as many run or come before this one. It starts after one"
            f" of them has ended, or when {who} or an admin raises the limit",
            waits_as=JobReason.TEAM_JOB_LIMIT,
            is_news=False,
        )


def _waiting_for_array(most: int) -> StartPrerequisite:
    return StartPrerequisite(
        note=f"Its array may run {_jobs(most)} at once (`max_running`), and as many run or come"
        " before this one. It starts after one of them has ended",
        waits_as=JobReason.ARRAY_LIMIT,
        is_news=False,
    )


def _turn(view: LiveJob) -> tuple[bool, int, float, str]:
    job = view.job
    never = job.explanation.get("reason") in _NEVER_STARTS or job.reason in _NEVER_STARTS
    return never, -job.priority, job.submitted_at.timestamp(), job.id


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"
