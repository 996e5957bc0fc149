"""`data ls`, `data add`, `data rm`: which data jobs may name. Only admins add and remove."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import Output
from concertina.input import secret_input
from concertina.terminal.session import Format, session
from concertina.views.data_sources import data_table

app = typer.Typer(help="See and change which data jobs may name.", no_args_is_help=True)

SourceName = Annotated[
    str, typer.Argument(metavar="NAME", help="As jobs name it.", show_default=False)
]
Admin = Annotated[
    str,
    typer.Option(
        "--as", metavar="USER", help="An admin. The password is asked for, or read from a pipe."
    ),
]


@app.command("ls")
def ls(*, output: Output = Format.TABLE) -> None:
    """List the data that jobs of the token's team may name."""
    with session(output) as current:
        found = current.client.data.list()
        if not found and not current.terminal.is_json:
            current.terminal.say("No data yet. An admin adds some: `concertina data add`.")
            return
        current.terminal.show(found, data_table(found))


@app.command("add")
def add(
    name: SourceName,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder, as nodes see it.")],
    *,
    team: Annotated[
        list[str], typer.Option(metavar="TEAM", help="Whose jobs may name it. May be repeated.")
    ],
    admin: Admin,
    writable: Annotated[bool, typer.Option("--writable", help="Let jobs write to it.")] = False,
    output: Output = Format.TABLE,
) -> None:
    """Let jobs name a folder, or replace what this name stands for."""
    with (
        session(output) as current,
        current.client.as_person(admin, secret_input.password(None)) as client,
    ):
        source = client.data.add(name, path, teams=team, is_writable=writable)
        said = f"Data {name} is {source['path']}, for {', '.join(source['teams'])}."
        current.terminal.show(source, said)


@app.command("rm")
def rm(name: SourceName, *, admin: Admin, output: Output = Format.TABLE) -> None:
    """Let no job name it any more; its files stay. Refused while live jobs use it."""
    with (
        session(output) as current,
        current.client.as_person(admin, secret_input.password(None)) as client,
    ):
        client.data.remove(name)
        current.terminal.show({"deleted": name}, f"Data {name} is no source any more.")
