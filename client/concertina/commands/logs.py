"""`logs`: what a job's processes wrote."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from concertina import words
from concertina.commands.options import JobReference, Output
from concertina.documents import LogLine
from concertina.session import Format, Terminal, session


def logs(
    reference: JobReference,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay until the job is final.")
    ] = False,
    worker: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this worker or coordinator.")
    ] = None,
    tail: Annotated[
        int, typer.Option(min=1, max=10_000, help="How many of the lines there are.")
    ] = 1000,
    output: Output = Format.TABLE,
) -> None:
    """Print a job's log; with --output json, one document per line."""
    with session(output) as current:
        job_id = current.client.find(reference)["id"]
        read = current.client.follow_logs if follow else current.client.logs
        for line in read(job_id, worker=worker, tail=tail):
            _print(current.terminal, line)


def _print(terminal: Terminal, line: LogLine) -> None:
    if terminal.is_json:
        terminal.show_json(line, indent=None)
        return
    text = Text(f"{words.clock_time(line['at'])} {line['worker']} ", style="bright_black")
    text.append(line["text"], style="red" if line["stream"] == "stderr" else "default")
    terminal.out.print(text, soft_wrap=True)
