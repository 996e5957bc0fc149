"""`secrets list`, `secrets set`, `secrets delete`: what only a team's jobs may know."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import Output, TeamOption
from concertina.errors import BadInput
from concertina.input import secret_input
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.secrets import secrets_table

app = typer.Typer(
    help="Keep what only a team's jobs may know: variables, and logins of image registries.",
    no_args_is_help=True,
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Of the secret, as jobs name it.", show_default=False)
]


@app.command("list")
def list_(*, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """List a team's secrets: their names and what they set, never what is in them."""
    with session(output) as current:
        found = current.client.secrets.of(team)
        current.terminal.show_rows(
            found,
            secrets_table(found),
            none="No secrets yet. `concertina secrets set NAME VARIABLE` stores one.",
        )


@app.command("set")
def set_(
    name: Name,
    variables: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VARIABLE...]", help="What it sets; values are asked for."),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="The value, or lines like NAME=value; - reads stdin, as a pipe does by itself.",
        ),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(metavar="HOST", help="Keep the login of this registry instead.")
    ] = None,
    username: Annotated[
        str | None, typer.Option(metavar="USER", help="Of the registry's login.")
    ] = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Set a secret, or replace it whole. Values come from a prompt, a pipe or a file."""
    with session(output) as current:
        if (registry is None) != (username is None) or (registry and variables):
            raise BadInput("Give --registry and --username together, and no variables with them.")
        if registry is None:
            given = secret_input.variables(variables or (), file)
            content: dict[str, object] = {"kind": "environment", "variables": given}
        else:
            login = {"registry": registry, "username": username}
            content = {"kind": "registry", **login, "password": secret_input.password(file)}
        kept = current.client.secrets.set(name, content, team=team)
        sets = kept["registry"] or ", ".join(kept["variables"])
        current.terminal.show(kept, f"Secret {name} is set: {sets}.")


@app.command("delete")
def delete(
    name: Name,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Even if live jobs need it: their starts fail.")
    ] = False,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Delete a secret; refused while live jobs need it."""
    with session(output) as current:
        current.client.secrets.delete(name, team=team, force=force)
        current.terminal.show({"deleted": name}, f"Secret {name} is deleted.")
