"""`data ls`, `data add`, `data put`, `data rm`: which data jobs may name, and who says so."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from concertina import words
from concertina.commands.options import Output, TeamOption
from concertina.terminal.bar import TransferBar
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.data_sources import data_table, place_of

app = typer.Typer(help="See and change which data jobs may name.", no_args_is_help=True)

SourceName = Annotated[
    str, typer.Argument(metavar="NAME", help="As jobs name it.", show_default=False)
]
_OF_JOB: Final = "job:"

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="With all that is in it.", show_default=False)
]
Admin = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="USER",
        help="An admin or, for URLs, a lead. The password is asked for, or read from a pipe.",
    ),
]

Person = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="USER",
        help="For other data than uploads: an admin or, for some, a lead. The password is asked"
        " for, or read from a pipe.",
    ),
]


@app.command("ls")
def ls(*, output: Output = Format.TABLE) -> None:
    """List the data that jobs of the token's team may name."""
    with session(output) as current:
        found = current.client.data.list()
        current.terminal.show_rows(
            found, data_table(found), none="No data yet. An admin adds some: `concertina data add`."
        )


@app.command("add")
def add(
    name: SourceName,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="A folder, as nodes see it; a URL: s3://BUCKET/PREFIX, gs://, az://, https://; or"
            " job:ID, for what a job wrote.",
        ),
    ],
    *,
    team: Annotated[
        list[str], typer.Option(metavar="TEAM", help="Whose jobs may name it. May be repeated.")
    ],
    admin: Admin,
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of a URL: the secret of the first team that the store asks for."
        ),
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Of a store that is not where its kind is.")
    ] = None,
    writable: Annotated[bool, typer.Option("--writable", help="Let jobs write to it.")] = False,
    output: Output = Format.TABLE,
) -> None:
    """Let jobs name a folder, a URL or a job's outputs, or replace what this name stands for."""
    if "://" not in place and (secret or endpoint):
        raise typer.BadParameter("Only a URL has a secret and an endpoint.")
    is_folder = "://" not in place and not place.startswith(_OF_JOB)
    if writable and not is_folder:
        raise typer.BadParameter("Jobs write to folders only: leave out --writable.")
    with (
        session(output) as current,
        current.speaking_for(admin) as client,
    ):
        if "://" in place:
            source = client.data.add_store(
                name, place, teams=team, secret=secret, endpoint=endpoint
            )
        elif place.startswith(_OF_JOB):
            source = client.data.add_outputs(name, place.removeprefix(_OF_JOB), teams=team)
        else:
            source = client.data.add(name, place, teams=team, is_writable=writable)
        said = f"Data {name} is {place_of(source)}, for {', '.join(source['teams'])}."
        current.terminal.show(source, said)


@app.command("put")
def put(
    folder: Folder, name: SourceName, *, team: TeamOption = None, output: Output = Format.TABLE
) -> None:
    """Upload a folder, which the team's jobs may name then. Broken off, it goes on when repeated.

    A name that was uploaded before gets this as its next version; jobs go on with what they have.
    """
    with session(output) as current:
        with (
            TransferBar(current.terminal.err, "Reading") as reading,
            TransferBar(current.terminal.err, "Sending") as sending,
        ):
            done = current.client.data.upload(
                name, folder, team=team, on_read=reading, on_progress=sending
            )
        files = "1 file" if done.files == 1 else f"{done.files} files"
        how = "sent" if done.is_new else "there already"
        said = f"Data {name} is {files}, {words.size(done.bytes)}, {how}."
        current.terminal.show({"name": name, **asdict(done)}, said)


@app.command("rm")
def rm(name: SourceName, *, admin: Person = None, output: Output = Format.TABLE) -> None:
    """Let no job name it any more. Refused while live jobs use it; files of folders stay."""
    with session(output) as current, current.speaking_for(admin) as client:
        client.data.remove(name)
        current.terminal.show({"deleted": name}, f"Data {name} is no source any more.")
