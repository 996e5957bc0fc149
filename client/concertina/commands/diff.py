"""`diff`: in what do two jobs differ, and what came of each?"""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.completion import completed_names
from concertina.commands.options import JobReference, Output
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.job.difference import difference, differing_fields


def diff(
    reference: JobReference,
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER", help="Likewise.", show_default=False, autocompletion=completed_names
        ),
    ],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Show in what the specs of two jobs differ, and what came of each."""
    with session(output) as current:
        client = current.client
        first, second = (client.job(client.find(name)["id"]) for name in (reference, other))
        fields = differing_fields(first["resolved_spec"], second["resolved_spec"])
        document = {
            "jobs": [first, second],
            "fields": [{"field": name, "values": values} for name, values in fields.items()],
        }
        current.terminal.show(document, difference(first, second, fields))
