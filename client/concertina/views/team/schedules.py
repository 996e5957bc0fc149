"""What do schedules look like, and their runs?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from concertina.documents import Job, Schedule, ScheduleDetail, ScheduleRun


def schedules_table(schedules: Iterable[Schedule]) -> FittingTable:
    """One row for each schedule."""
    table = FittingTable(
        *("SCHEDULE", "WHEN", "NEXT", "LAST", "OUTCOME", "FOR"), first_to_go=("FOR", "LAST")
    )
    for one in schedules:
        last = one["last_run"]
        table.add_row(
            one["name"],
            f"{one['cron']} {one['time_zone']}",
            _next(one),
            words.NOTHING if last is None else words.date_time(last["due_at"]),
            words.NOTHING if last is None else _outcome(last),
            one["holder"],
        )
    return table


def schedule_view(schedule: ScheduleDetail) -> RenderableType:
    """A schedule whole, with its last runs."""
    grid = Table.grid(padding=(0, 2))
    for name, said in _fact_rows(schedule):
        grid.add_row(name, said)
    if not schedule["runs"]:
        return grid
    return Group(grid, Padding(_runs_table(schedule["runs"]), (1, 0, 0, 0)))


def standing(schedule: Schedule) -> str:
    """Say in a sentence when it is due next."""
    if schedule["is_paused"]:
        return f"Schedule {schedule['name']} is paused. {schedule['paused_because']}"
    return (
        f"Schedule {schedule['name']} is due next at {words.date_time(schedule['next_at'])}, and"
        f" submits for {schedule['holder']}."
    )


def schedule_rows(job: Job) -> Iterator[tuple[str, str]]:
    """Yield what a table of facts says of a job that a schedule submitted; of another nothing."""
    if (schedule := job.get("schedule")) is not None:
        yield "Schedule", f"{schedule['name']}, for {words.date_time(schedule['due_at'])}"


def _fact_rows(schedule: ScheduleDetail) -> Iterator[tuple[str, str]]:
    yield "Schedule", f"{schedule['team']}/{schedule['name']} ({schedule['id']})"
    yield "When", f"{schedule['cron']} in {schedule['time_zone']}"
    yield "Next", _next(schedule)
    if schedule["is_paused"]:
        yield "Why", schedule["paused_because"]
    yield "For", schedule["holder"]
    yield "Overlap", schedule["overlap"]
    yield "Catch up", _catch_up(schedule)
    if schedule["failures"]:
        yield "Failures", f"{schedule['failures']} in a row"
    command = schedule["spec"].get("command")
    if isinstance(command, list):
        yield "Command", " ".join(map(str, command))
    yield "Added", f"{words.date_time(schedule['created_at'])} by {schedule['created_by']}"


def _catch_up(schedule: Schedule) -> str:
    within = words.duration(schedule["start_within"])
    return f"the last one, within {within}" if schedule["catch_up"] == "last" else "nothing"


def _runs_table(runs: Iterable[ScheduleRun]) -> FittingTable:
    table = FittingTable("DUE", "ASKED BY", "OUTCOME", "JOB")
    for run in runs:
        jobs = [f"{job['name']} ({job['id']})" for job in run["jobs"][:1]]
        more = f" and {run['job_count'] - 1} more" if run["job_count"] > 1 else ""
        table.add_row(
            words.date_time(run["due_at"]),
            run["asked_by"] or words.NOTHING,
            _outcome(run),
            f"{jobs[0]}{more}" if jobs else words.NOTHING,
        )
    return table


def _next(schedule: Schedule) -> str:
    return "paused" if schedule["is_paused"] else words.date_time(schedule["next_at"])


def _outcome(run: ScheduleRun) -> str:
    return f"{run['state']}: {run['message']}" if run["message"] else run["state"]
