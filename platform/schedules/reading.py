"""Which schedules does a team have, and how did their last runs go?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal
from tenancy.audit import records
from tenancy.models import Team

from schedules import holders
from schedules.errors import ScheduleNotFound
from schedules.models import ScheduleRun, TeamSchedule

MOST_SHOWN_RUNS: Final = 20


def team_of(principal: Principal, name: str) -> Team:
    """Return a team that the principal sees. Raises: ScheduleNotFound."""
    team = principal.seen.get(name)
    if team is None:
        raise ScheduleNotFound(f"There is no team {name!r}.")
    records.note_target(team_id=team.pk)
    return team


def find(principal: Principal, team_name: str, name: str) -> TeamSchedule:
    """Return one schedule of a team that the principal sees. Raises: ScheduleNotFound."""
    team = team_of(principal, team_name)
    found = TeamSchedule.objects.filter(team=team, name=name).first()
    if found is None:
        raise ScheduleNotFound(f"Team {team.name} has no schedule {name!r}.")
    found.team = team
    return found


def held(schedule: TeamSchedule) -> TeamSchedule:
    """Return it as it is now; nobody changes, submits or deletes it until the transaction ends.

    Raises: ScheduleNotFound.
    """
    found = TeamSchedule.objects.select_for_update(no_key=True).filter(pk=schedule.pk).first()
    if found is None:
        raise ScheduleNotFound
    found.team = schedule.team
    return found


def all_of(principal: Principal, team_name: str) -> Sequence[TeamSchedule]:
    """Return all of a team, by name, without their specs, in two statements."""
    team = team_of(principal, team_name)
    found = list(TeamSchedule.objects.filter(team=team).defer("spec").order_by("name"))
    for one in found:
        one.team = team
    return shown(principal, found)


def shown(principal: Principal, schedules: Sequence[TeamSchedule]) -> Sequence[TeamSchedule]:
    """Add `last_run`, `may_change` and `may_run` to each, in one statement."""
    newest = ScheduleRun.objects.filter(schedule__in=[one.pk for one in schedules])
    newest = newest.order_by("schedule_id", "-due_at", "-id").distinct("schedule_id")
    by_schedule = {run.schedule_id: run for run in newest}
    for one in schedules:
        told: Any = one
        told.last_run = by_schedule.get(one.pk)
        told.may_change = holders.may_stop(principal, one)
        told.may_run = principal.may_in(Permission.SUBMIT, one.team_id)
    return schedules


def runs_of(schedule: TeamSchedule) -> Sequence[ScheduleRun]:
    """Return the newest runs, the newest first."""
    return list(ScheduleRun.objects.filter(schedule=schedule)[:MOST_SHOWN_RUNS])
