"""`retention ls`, `retention set`, `storage`: for how long and how much a team's jobs keep."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamOption
from concertina.errors import BadInput
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.keeping import days, rules_table, storage_view

app = typer.Typer(
    help="See and choose for how long a team keeps what its jobs leave behind.",
    no_args_is_help=True,
)

_USUAL = "usual"


@app.command("ls")
def ls(*, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """List for how long each part of an ended job is kept, and within which bounds."""
    with session(output) as current:
        rules = current.client.keeping.rules(team)
        current.terminal.show(rules, rules_table(rules["items"]))


@app.command("set")
def set_(
    part: Annotated[
        str,
        typer.Argument(metavar="PART", help="curves, logs, checkpoints, outputs or code."),
    ],
    number: Annotated[
        str | None,
        typer.Argument(
            metavar="[DAYS]", help="After a job's end. 0: for ever; usual: the installation's."
        ),
    ] = None,
    *,
    least: Annotated[
        int | None, typer.Option("--least", metavar="DAYS", help="The team's lower bound (admins).")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", metavar="DAYS", help="The team's upper bound (admins).")
    ] = None,
    person: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Choose for how long a part is kept. What is older goes within minutes, for good."""
    changes: dict[str, int | None] = {
        name: days
        for name, days in (("least_days", least), ("most_days", most))
        if days is not None
    }
    with session(output) as current:
        if number is not None:
            changes["days"] = _days(number)
        if not changes:
            raise BadInput("Say for how many days, or --least, or --most.")
        with current.speaking_for(person) as client:
            rule = client.keeping.change(part, changes, team)
        current.terminal.show(rule, f"{part.capitalize()}: {days(rule['kept_days'])}.")


def storage(
    *,
    most: Annotated[
        int | None,
        typer.Option("--most", metavar="GIB", min=0, help="Set the limit (admins). 0: the usual."),
    ] = None,
    person: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Show how much the jobs of a team keep on disk, of how much, and which of them most."""
    with session(output) as current:
        with current.speaking_for(person) as client:
            if most is not None:
                client.keeping.limit_storage(most or None, team)
            found = client.keeping.storage(team)
        current.terminal.show(found, storage_view(found))


def _days(text: str) -> int | None:
    if text == _USUAL:
        return None
    if not text.isdecimal():
        raise BadInput(f"{text!r} is no number of days. Say 30, 0 for ever, or usual.")
    return int(text)
