"""Which schedules are there? Whoever may submit jobs adds them, and changes their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from tenancy.audit import records
from tenancy.models import Team

from jobs.admission import code_snapshots
from jobs.admission.pool_capacity import PoolCapacity
from schedules import due_times, holders, reading, specs
from schedules.errors import (
    BadCron,
    ScheduleChangedMeanwhile,
    ScheduleNameTaken,
    ScheduleNotFound,
    TooManySchedules,
)
from schedules.holders import ScheduleHolder
from schedules.models import ScheduleRun, TeamSchedule

MOST_OF_TEAM: Final = 50
USUAL_START_WITHIN: Final = 6 * 3600  # seconds
SHORTEST_START_WITHIN: Final = 5 * 60
LONGEST_START_WITHIN: Final = 24 * 3600
_TOLD: Final = ("cron", "time_zone", "overlap", "catch_up", "start_within", "holder")
_log: Final = logging.getLogger(__name__)


def add(
    holder: ScheduleHolder,
    team: Team,
    wanted: Mapping[str, Any],
    *,
    pools: Sequence[PoolCapacity],
    now: datetime,
) -> tuple[TeamSchedule, Sequence[str]]:
    """Add a schedule that submits in the holder's name; return also what they should know.

    Raises:
        ScheduleNotYours, BadCron, SpecInvalid, TooManySchedules, ScheduleNameTaken.
    """
    holders.check_may_submit(holder.principal, team.name)
    due_times.check(wanted["cron"], wanted["time_zone"])
    spec, code, notes = specs.checked(wanted["spec"], team=team, pools=pools, now=now)
    made = TeamSchedule(
        **{**wanted, "spec": spec, "code": code, **holder.columns},
        team=team,
        next_at=_next(now, wanted["cron"], wanted["time_zone"]),
        created_by=holder.principal.name,
    )
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).only("pk").get(pk=team.pk)
        names = set(TeamSchedule.objects.filter(team=team).values_list("name", flat=True))
        if made.name in names:
            raise ScheduleNameTaken
        if len(names) >= MOST_OF_TEAM:
            raise TooManySchedules
        code_snapshots.hold(team, {code} - {""})
        made.save(force_insert=True)
    records.note_target(target=f"teams/{team.name}/schedules/{made.name}")
    records.note_change(after=told(made))
    _note(made, "added", holder)
    return made, notes


def change(
    holder: ScheduleHolder,
    schedule: TeamSchedule,
    changes: Mapping[str, Any],
    *,
    version: int,
    pools: Sequence[PoolCapacity],
    now: datetime,
) -> tuple[TeamSchedule, Sequence[str]]:
    """Change it; whoever changes the spec answers for it from then on.

    It is planned anew only if it is due at other times; what was due already stays due.

    Raises:
        ScheduleNotYours, ScheduleChangedMeanwhile, ScheduleNotFound, BadCron, SpecInvalid.
    """
    holders.check_may_submit(holder.principal, schedule.team.name)
    holders.check_may_change(holder.principal, schedule)
    due_times.check(
        changes.get("cron", schedule.cron), changes.get("time_zone", schedule.time_zone)
    )
    columns, notes = dict(changes), list[str]()
    if "spec" in changes:
        spec, code, said = specs.checked(changes["spec"], team=schedule.team, pools=pools, now=now)
        columns |= {"spec": spec, "code": code, **holder.columns}
        notes.extend(said)
    with transaction.atomic():
        held = reading.held(schedule)
        if held.version != version:
            raise ScheduleChangedMeanwhile(
                f"Schedule {held.name} has version {held.version} now, not {version}: somebody has"
                " changed it. Read it again, then change it."
            )
        if not changes:
            return held, notes
        before, times = told(held), (held.cron, held.time_zone)
        for name, value in columns.items():
            setattr(held, name, value)
        holders.check_may_replace(holder, held)
        is_due = held.next_at is not None and held.next_at <= now  # and recorded in a moment
        if (held.cron, held.time_zone) != times and not (held.is_paused or is_due):
            held.next_at = _next(now, held.cron, held.time_zone)
        if "spec" in changes:
            code_snapshots.hold(held.team, {held.code} - {""})
        _save(held)
    records.note_change(before=before, after={**told(held), "changed": sorted(changes)})
    _note(held, f"changed: {', '.join(sorted(changes))}", holder)
    return held, notes


def pause(holder: ScheduleHolder, schedule: TeamSchedule, *, reason: str) -> TeamSchedule:
    """Submit nothing until somebody resumes it; one that is paused stays so.

    Raises: ScheduleNotYours, ScheduleNotFound.
    """
    holders.check_may_stop(holder.principal, schedule)
    with transaction.atomic():
        held = reading.held(schedule)
        words = " ".join(reason.split())
        records.note_change(
            before={"is_paused": held.is_paused}, after={"is_paused": True, "reason": words}
        )
        if held.is_paused:
            return held
        because = f"Paused by {holder.principal.name}{f': {words}' if words else '.'}"
        set_paused(held, because)
    _note(held, "paused", holder)
    return held


def resume(holder: ScheduleHolder, schedule: TeamSchedule, *, now: datetime) -> TeamSchedule:
    """Go on at the next time that is due; whoever resumes it answers for it from then on.

    Raises: ScheduleNotYours, ScheduleNotFound, BadCron.
    """
    holders.check_may_submit(holder.principal, schedule.team.name)
    holders.check_may_change(holder.principal, schedule)
    with transaction.atomic():
        held = reading.held(schedule)
        before = {"is_paused": held.is_paused, "holder": held.holder}
        records.note_change(before=before, after=before)
        if not held.is_paused:
            return held
        held.is_paused, held.paused_because, held.failures = False, "", 0
        held.next_at = _next(now, held.cron, held.time_zone)
        for name, value in holder.columns.items():
            setattr(held, name, value)
        _save(held)
    records.note_change(before=before, after={"is_paused": False, "holder": held.holder})
    _note(held, "resumed", holder)
    return held


def remove(holder: ScheduleHolder, schedule: TeamSchedule) -> None:
    """Delete it with its runs; the jobs that it submitted stay, and their name of it, too.

    Raises: ScheduleNotYours, ScheduleNotFound.
    """
    holders.check_may_stop(holder.principal, schedule)
    with transaction.atomic():
        held = TeamSchedule.objects.select_for_update().filter(pk=schedule.pk).first()
        if held is None:
            raise ScheduleNotFound
        runs = ScheduleRun.objects.filter(schedule=held)
        runs._raw_delete(runs.db)  # noqa: SLF001 - nothing refers to them
        TeamSchedule.objects.filter(pk=held.pk).delete()
    records.note_change(before=told(held))
    _note(held, "deleted", holder)


def set_paused(held: TeamSchedule, because: str) -> None:
    """Pause one that the caller holds."""
    held.is_paused, held.next_at, held.paused_because = True, None, because[:500]
    _save(held)


def told(schedule: TeamSchedule) -> dict[str, Any]:
    """Return what the audit log tells of a schedule: not its spec, which may be long."""
    return {name: getattr(schedule, name) for name in _TOLD}


def _save(held: TeamSchedule) -> None:
    held.version += 1
    held.save()


def _next(now: datetime, cron: str, time_zone: str) -> datetime:
    found = due_times.first_after(now, cron, time_zone)
    if found is None:
        raise BadCron(f"`{cron}` is never due.")
    return found


def _note(schedule: TeamSchedule, what: str, holder: ScheduleHolder) -> None:
    extra = {"action": "schedules", "schedule": schedule.id, "by": holder.principal.name}
    _log.info("Schedule %s of team %s: %s.", schedule.name, schedule.team.name, what, extra=extra)
