"""`members ls`, `members add`, `members change`, `members remove`: who is in a team."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamOption
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.members import members_table

app = typer.Typer(no_args_is_help=True, help="Who is in a team, and in which role.")

Person = Annotated[str, typer.Argument(metavar="NAME", help="Of an account.", show_default=False)]
Role = Annotated[
    str, typer.Option("--role", metavar="ROLE", help="viewer, member or lead.", show_default=True)
]


@app.command("ls")
def list_members(
    team: Annotated[
        str | None, typer.Argument(metavar="[TEAM]", help="Default: the token's own.")
    ] = None,
    *,
    output: Output = Format.TABLE,
) -> None:
    """List who has a role in a team, also by a team above it."""
    with session(output) as current:
        found = current.client.members.of(team)
        items = found["items"]
        if not items and not current.terminal.is_for_programs:
            current.terminal.say(
                "Nobody is in it yet. `concertina members add NAME` adds somebody."
            )
            return
        current.terminal.show(items, members_table(items))


@app.command()
def add(
    name: Person,
    *,
    role: Role = "member",
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Give somebody a role in a team. A token may not: say --as whom."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            made = client.members.add(name, role, team=team)
        current.terminal.show(made, f"{made['name']} is {made['role']} of {made['team']}.")


@app.command()
def change(
    name: Person,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, member or lead.")],
    *,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Give somebody who is in a team another role."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            made = client.members.change(name, role, team=team)
        current.terminal.show(made, f"{made['name']} is {made['role']} of {made['team']}.")


@app.command()
def remove(
    name: Person,
    *,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Take somebody out of a team. Their jobs go on."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            client.members.remove(name, team=team)
        current.terminal.show({"name": name, "removed": True}, f"{name} is removed from the team.")
