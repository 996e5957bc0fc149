"""`schedules list`, `show`, `add`, `change`, `pause`, `resume`, `run`, `delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from concertina.commands.options import Assignments, File, Output, TeamOption
from concertina.commands.submitting.code import folder_beside, uploaded
from concertina.errors import BadInput
from concertina.input import job_files, overrides
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.team.schedules import schedule_view, schedules_table, standing

if TYPE_CHECKING:
    from concertina.documents import ScheduleDetail

app = typer.Typer(no_args_is_help=True, help="Job specs that are submitted again and again.")
Name = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its name.", show_default=False)]
Overlap = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="While a job of it lives: skip (usual), allow another, or replace it.",
    ),
]
CatchUp = Annotated[
    str | None,
    typer.Option(
        "--catch-up",
        metavar="RULE",
        help="Of times that were due while the service was away: last (usual), or none.",
    ),
]
StartWithin = Annotated[
    int | None,
    typer.Option(
        "--start-within",
        metavar="MINUTES",
        min=5,
        max=24 * 60,
        help="After which a time that was due is missed; usually 360.",
    ),
]
_CRON = "Minute, hour, day of the month, month, day of the week, as one word: '0 2 * * *'."
_ZONE = "In which --cron is read, such as Europe/Berlin."


@app.command("list")
def list_schedules(*, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """List a team's schedules: when each is due next, and how its last run went."""
    with session(output) as current:
        items = current.client.schedules.all(team)
        current.terminal.show_rows(
            items, schedules_table(items), none="No schedules. `concertina schedules add` adds one."
        )


@app.command("show")
def show_schedule(name: Name, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Show a schedule with its last runs."""
    with session(output) as current:
        found = current.client.schedules.read(name, team=team)
        current.terminal.show(found, schedule_view(found))


@app.command("add")
def add_schedule(
    name: Name,
    *,
    cron: Annotated[str, typer.Option(metavar="EXPRESSION", help=_CRON)],
    file: File,
    assignments: Assignments = None,
    zone: Annotated[str, typer.Option("--zone", metavar="ZONE", help=_ZONE)] = "UTC",
    overlap: Overlap = None,
    catch_up: CatchUp = None,
    start_within: StartWithin = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Submit a job spec again and again, in your name, at the times that an expression tells."""
    with session(output) as current:
        spec = _spec(current, file, assignments, team)
        team = team or spec.get("team") or spec.get("project")
        rules = _rules(overlap, catch_up, start_within)
        made = current.client.schedules.add(name, spec, cron, time_zone=zone, team=team, **rules)
        _tell(current, made)


@app.command("change")
def change_schedule(
    name: Name,
    *,
    cron: Annotated[str | None, typer.Option(metavar="EXPRESSION", help=_CRON)] = None,
    zone: Annotated[str | None, typer.Option("--zone", metavar="ZONE", help=_ZONE)] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="Another job spec; - reads stdin."),
    ] = None,
    assignments: Assignments = None,
    overlap: Overlap = None,
    catch_up: CatchUp = None,
    start_within: StartWithin = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Change a schedule; with another spec it submits in your name from then on.

    --set without --file changes the spec that it has.
    """
    with session(output) as current:
        schedules = current.client.schedules
        found = schedules.read(name, team=team)
        changes = _rules(overlap, catch_up, start_within)
        changes |= {} if cron is None else {"cron": cron}
        changes |= {} if zone is None else {"time_zone": zone}
        if file is not None:
            changes["spec"] = _spec(current, file, assignments, found["team"])
        elif assignments:
            changes["spec"] = overrides.applied(found["spec"], assignments)
        if not changes:
            raise BadInput("Say what to change: --cron, --zone, --file, --set, --overlap …")
        _tell(current, schedules.change(name, changes, version=found["version"], team=team))


@app.command("pause")
def pause_schedule(
    name: Name,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Shown to the team.")] = "",
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Submit nothing until somebody resumes it. Its jobs go on."""
    with session(output) as current:
        _tell(current, current.client.schedules.pause(name, reason=reason, team=team))


@app.command("resume")
def resume_schedule(name: Name, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Go on at the next time that is due; it submits in your name from then on."""
    with session(output) as current:
        _tell(current, current.client.schedules.resume(name, team=team))


@app.command("run")
def run_schedule(
    name: Name,
    *,
    idempotency_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The same key means the same run. Made up if left out."),
    ] = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Submit its spec now, in your name, beside its times."""
    with session(output) as current:
        made = current.client.schedules.run(name, team=team, idempotency_key=idempotency_key)
        lines = "\n".join(f"{job['id']}  {job['name']}" for job in made["jobs"])
        current.terminal.show(made, lines)


@app.command("delete")
def delete_schedule(name: Name, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Delete a schedule with its runs; the jobs that it submitted stay."""
    with session(output) as current:
        current.client.schedules.remove(name, team=team)
        current.terminal.show(
            {"schedule": name, "deleted": True}, f"Schedule {name} is deleted. Its jobs stay."
        )


def _spec(
    current: Session, file: str, assignments: list[str] | None, team: str | None
) -> dict[str, Any]:
    """Return the spec as it is stored: its code is uploaded now, and is what each job gets."""
    source = job_files.read(file)
    current.place_of = source.place
    spec = overrides.applied(source.spec, assignments or ())
    if team and not (spec.get("team") or spec.get("project")):
        spec = {**spec, "team": team}
    folder = folder_beside(spec, file)
    return spec if folder is None else uploaded(current, spec, folder)


def _rules(overlap: str | None, catch_up: str | None, start_within: int | None) -> dict[str, Any]:
    seconds = None if start_within is None else start_within * 60
    found = {"overlap": overlap, "catch_up": catch_up, "start_within": seconds}
    return {name: value for name, value in found.items() if value is not None}


def _tell(current: Session, schedule: ScheduleDetail) -> None:
    for note in schedule["notes"]:
        current.terminal.say(f"Note: {note}")
    current.terminal.show(schedule, standing(schedule))
