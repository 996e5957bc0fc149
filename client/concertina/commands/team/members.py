"""`members ls`, `members add`, `members change`, `members remove`: who is in a team."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import Output, TeamOption
from concertina.input import secret_input
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.members import members_table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from concertina.client import Client

app = typer.Typer(no_args_is_help=True, help="Who is in a team, and in which role.")

Person = Annotated[str, typer.Argument(metavar="NAME", help="Of an account.", show_default=False)]
Role = Annotated[
    str, typer.Option("--role", metavar="ROLE", help="viewer, member or lead.", show_default=True)
]
AsLead = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="USER",
        help="A lead or an admin; the password is asked for, or read from a pipe.",
    ),
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
    lead: AsLead = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Give somebody a role in a team. A token may not: say --as whom."""
    with session(output) as current:
        with _speaking_for(current.client, lead) as client:
            made = client.members.add(name, role, team=team)
        current.terminal.show(made, f"{made['name']} is {made['role']} of {made['team']}.")


@app.command()
def change(
    name: Person,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, member or lead.")],
    *,
    lead: AsLead = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Give somebody who is in a team another role."""
    with session(output) as current:
        with _speaking_for(current.client, lead) as client:
            made = client.members.change(name, role, team=team)
        current.terminal.show(made, f"{made['name']} is {made['role']} of {made['team']}.")


@app.command()
def remove(
    name: Person,
    *,
    lead: AsLead = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Take somebody out of a team. Their jobs go on."""
    with session(output) as current:
        with _speaking_for(current.client, lead) as client:
            client.members.remove(name, team=team)
        current.terminal.show({"name": name, "removed": True}, f"{name} is removed from the team.")


def _speaking_for(client: Client, person: str | None) -> AbstractContextManager[Client]:
    if person is None:
        return nullcontext(client)
    return client.as_person(person, secret_input.password(None))
