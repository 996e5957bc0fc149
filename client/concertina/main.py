"""The command line `concertina`: which verbs are there?"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from concertina.commands.verbs import VerbGroup
from concertina.connection import contexts
from concertina.errors import BadInput

_EXIT_CODES = (
    "Exit codes: 0 done, or the job completed · 1 the job failed · 2 wrong usage · "
    "3 refused by the service · 4 not found · 5 not logged in or not allowed · "
    "6 service unreachable · 7 the job was cancelled · 8 its script ended early · "
    "9 the set-up would change · 130 interrupted."
)

app = typer.Typer(
    cls=VerbGroup,
    help="Submit elastic training jobs to a Concertina service, and watch them.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(is_asked: bool) -> None:  # noqa: FBT001 - Typer gives the value so
    if is_asked:
        from importlib import metadata  # noqa: PLC0415 - which takes a while to load

        try:
            release = metadata.version("concertina-client")
        except metadata.PackageNotFoundError:  # it came with the service
            release = metadata.version("concertina")
        typer.echo(f"concertina {release}")
        raise typer.Exit


def _choose(name: str | None) -> None:
    if name:
        try:
            contexts.choose_for_once(name)
        except BadInput as problem:
            raise typer.BadParameter(problem.message) from problem


@app.callback()
def common(
    *,
    _context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            callback=_choose,
            help="Mean this installation for once: see `concertina context`.",
            envvar=contexts.CONTEXT_VARIABLE,
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Say which release this is."
        ),
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Run the command line; what the terminal's encoding lacks becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="concertina")
