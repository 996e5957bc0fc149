"""`members ls`, `add`, `change`, `remove`: who is in a team; `invite` and on: who is to come."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamArgument, TeamOption
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.members import invitations_table, members_table

app = typer.Typer(no_args_is_help=True, help="Who is in a team, and in which role.")

Person = Annotated[str, typer.Argument(metavar="NAME", help="Of an account.", show_default=False)]
Role = Annotated[
    str, typer.Option("--role", metavar="ROLE", help="viewer, member or lead.", show_default=True)
]


@app.command("ls")
def list_members(
    team: TeamArgument = None,
    *,
    output: Output = Format.TABLE,
) -> None:
    """List who has a role in a team, also by a team above it."""
    with session(output) as current:
        found = current.client.members.of(team)
        items = found["items"]
        current.terminal.show_rows(
            items,
            members_table(items),
            none="Nobody is in it yet. `concertina members add NAME` adds somebody.",
        )


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


@app.command()
def invite(
    *,
    role: Role = "member",
    mail: Annotated[
        str, typer.Option("--mail", metavar="ADDRESS", help="Send the link there, too.")
    ] = "",
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a link that makes one person a member, once, within seven days."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            made = client.members.invite(role, mail=mail, team=team)
        current.terminal.show(made, made["link"])
        if current.terminal.is_for_programs:
            return
        current.terminal.say(
            f"Whoever has this link becomes {made['role']} of {made['team']}, once. It is shown"
            f" only now; `concertina members uninvite {made['id']}` makes it useless."
        )
        if made["is_mailed"]:
            current.terminal.say(f"It is on its way to {made['mail']}.")
        elif made["mail_problem"]:
            current.terminal.say(made["mail_problem"])


@app.command()
def invitations(
    team: TeamArgument = None,
    *,
    lead: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """List who is invited into a team, and what became of it."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            items = client.members.invitations(team)
        current.terminal.show_rows(
            items,
            invitations_table(items),
            none="Nobody is invited. `concertina members invite` makes a link.",
        )


@app.command()
def uninvite(
    number: Annotated[int, typer.Argument(metavar="ID", help="Of an open invitation.")],
    *,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Make an open invitation useless."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            client.members.revoke_invitation(number, team=team)
        current.terminal.show({"id": number, "revoked": True}, f"Invitation {number} is revoked.")
