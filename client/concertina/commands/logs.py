"""`logs`: what a job's processes wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from concertina import words
from concertina.commands.options import JobReference, Output
from concertina.errors import BadInput
from concertina.terminal.bar import TransferBar
from concertina.terminal.harmless import coloured
from concertina.terminal.session import Session, Terminal, session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from concertina.documents import LogLine


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
    raw: Annotated[
        bool, typer.Option("--raw", help="Let escape sequences of the job through to the terminal.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Write all that is kept of the log, or of --worker's, to this file.",
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Print a job's log, or save all of it; with --output json, one document per line."""
    with session(output) as current:
        if save is not None:
            if follow:
                raise BadInput("A log is either followed or saved: leave out --follow or --save.")
            _save(current, reference, worker, save)
            return
        job_id = current.client.find(reference)["id"]
        read = current.client.follow_logs if follow else current.client.logs
        notice = partial(current.terminal.say, style="yellow")
        for line in read(job_id, worker=worker, tail=tail, notice=notice):
            print_line(current.terminal, line, is_raw=raw)


def _save(current: Session, reference: str, worker: str | None, file: Path) -> None:
    results = current.client.results(current.client.find(reference)["id"])
    with TransferBar(current.terminal.err, "Fetching") as bar:
        size = results.download_log(file, worker=worker, on_progress=bar)
    said = f"{file}: {words.size(size)}."
    current.terminal.show({"bytes": size, "file": str(file)}, said)


def print_line(terminal: Terminal, line: LogLine, *, is_raw: bool) -> None:
    """Print a line, or its document."""
    if terminal.is_for_programs:
        terminal.show_line(line)
        return
    head = f"{words.clock_time(line['at'])} {line['worker']} "
    if is_raw:
        terminal.out.file.write(f"{head}{line['text']}\n")
        terminal.out.file.flush()
        return
    style = "red" if line["stream"] == "stderr" else "default"
    said = Text.from_ansi(coloured(line["text"]), style=style)
    terminal.out.print(Text(head, style="bright_black").append_text(said), soft_wrap=True)
