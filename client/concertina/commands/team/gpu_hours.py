"""`gpu-hours`, `fairness`: who used how much GPU time, and was a team given what it was owed?"""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.installation.cluster import PoolOption
from concertina.commands.options import Output
from concertina.input.moments import day_or_moment
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.gpu_hours import gpu_hours_table, sum_of_gpu_hours
from concertina.views.team.receipt import receipt_sentence, receipt_tables

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
