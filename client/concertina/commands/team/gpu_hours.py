"""`gpu-hours`, `fairness`, `report`: who used how much GPU time, was given its due, and pays?"""

from __future__ import annotations

import re
from typing import Annotated

import typer

from concertina.commands.installation.cluster import PoolOption
from concertina.commands.options import AsPerson, Output, TeamOption
from concertina.errors import BadInput
from concertina.input.moments import day_or_moment
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.gpu_hours import gpu_hours_table, sum_of_gpu_hours
from concertina.views.team.receipt import receipt_sentence, receipt_tables
from concertina.views.team.report import report_rows, report_tables, whole_report_tables

_MONTH = re.compile(r"2[01]\d{2}-(0[1-9]|1[0-2])")
_WHEN = "A day, a moment, or so long ago: 2026-11-01, 2026-11-01T12:00, 7d."
SinceOption = Annotated[
    str | None, typer.Option(parser=day_or_moment, metavar="WHEN", help=f"From when on. {_WHEN}")
]
UntilOption = Annotated[
    str | None, typer.Option(parser=day_or_moment, metavar="WHEN", help="Until when, likewise.")
]
ZoneOption = Annotated[
    str | None,
    typer.Option(metavar="ZONE", help="Whose days and months, as Europe/Berlin. Default: UTC."),
]


def _month(text: str) -> str:
    if text != "latest" and not _MONTH.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is no month. Write it as 2026-11.")
    return text


def gpu_hours(
    team: Annotated[
        str | None,
        typer.Argument(metavar="TEAM", help="Only this team. Default: all.", show_default=False),
    ] = None,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Tell apart by team, user, pool, job, label:KEY, and hour, day or month. May be"
            " repeated, or name several with commas between.  [default: team; of a team: user]",
            show_default=False,
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    time_zone: ZoneOption = None,
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", metavar="NAME", help="Only what this person or token sent."),
    ] = None,
    pool: PoolOption = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label", "-l", metavar="NAME[=VALUE]", help="Only with this label. May be repeated."
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Show who used, lent and borrowed how many GPU-hours; by default in the last 30 days."""
    words = [word.strip() for part in by or () for word in part.split(",")]
    with session(output) as current:
        found = current.client.gpu_hours.read(
            words or [("user" if team else "team")],
            team=team,
            user=user,
            pool=pool,
            labels=labels or (),
            since=since,
            until=until,
            time_zone=time_zone,
        )
        is_list = output is Format.CSV
        current.terminal.show(found["items"] if is_list else found, gpu_hours_table(found))
        if output is Format.TABLE:
            current.terminal.say(sum_of_gpu_hours(found))


def fairness(
    team: Annotated[
        str | None,
        typer.Argument(metavar="TEAM", help="Default: the token's own.", show_default=False),
    ] = None,
    *,
    pool: PoolOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    time_zone: ZoneOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Show whether a team was given what it was owed, and why not; by default in 30 days."""
    with session(output) as current:
        found = current.client.gpu_hours.receipt(
            team, pool=pool, since=since, until=until, time_zone=time_zone
        )
        is_list = output is Format.CSV
        current.terminal.show(found["shortfalls"] if is_list else found, receipt_tables(found))
        if output is Format.TABLE:
            current.terminal.say(receipt_sentence(found))


def report(
    month: Annotated[
        str,
        typer.Argument(
            metavar="[MONTH]",
            parser=_month,
            help="As 2026-11, of UTC. Default: the one that was over last.",
            show_default=False,
        ),
    ] = "latest",
    *,
    team: TeamOption = None,
    all_teams: Annotated[
        bool, typer.Option("--all-teams", help="What all teams used and pay: for admins.")
    ] = False,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Report a month: what a team held, lent and pays, by person and job, and the month before."""
    with session(output) as current:
        if all_teams and team is not None:
            raise BadInput("Say --team, or --all-teams.")
        is_list = output is Format.CSV
        with current.speaking_for(person) as client:
            if all_teams:
                whole = client.gpu_hours.report_of_all(month)
                shown = whole["teams"] if is_list else whole
                current.terminal.show(shown, whole_report_tables(whole))
                return
            found = client.gpu_hours.report(month, team=team)
        current.terminal.show(report_rows(found) if is_list else found, report_tables(found))
        if output is Format.TABLE:
            current.terminal.say(found["message"])
            current.terminal.say(found["fairness"]["message"])
