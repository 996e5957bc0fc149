"""`open`: the same in the browser."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from concertina.commands.completion import completed_names
from concertina.commands.options import Output
from concertina.terminal.session import session
from concertina.terminal.written import Format


def open_in_browser(
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="JOB",
            help="An id, a name, or team/name. Left out, the overview.",
            show_default=False,
            autocompletion=completed_names,
        ),
    ] = None,
    *,
    only_print: Annotated[
        bool, typer.Option("--print", help="Only print the address, for another machine's browser.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """Open the dashboard, or a job's page, in a browser."""
    with session(output) as current:
        client = current.client
        page = "" if reference is None else f"jobs/{client.find(reference)['id']}"
        address = f"{client.url}/{page}"
        current.terminal.show({"url": address}, address, is_uncut=True)
        if not only_print and not webbrowser.open(address):
            current.terminal.say("No browser starts here: open this address where there is one.")
