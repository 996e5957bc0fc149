"""`convert`: a job file of what another system would have run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import Output
from concertina.conversion.converted import Fate, Source
from concertina.terminal.session import session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from concertina.conversion.converted import Converted
    from concertina.terminal.session import Terminal


def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A batch script for sbatch, a PyTorchJob, or a configuration of Determined;"
            " - reads stdin.",
        ),
    ],
    *,
    source: Annotated[
        Source | None,
        typer.Option("--from", help="What it is. Left out, what it looks like."),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Write the job file of a job of Slurm, Kubeflow or Determined, and what it cannot say."""
    from concertina.conversion import converting, job_file  # noqa: PLC0415 - they load YAML
    from concertina.input import job_files  # noqa: PLC0415

    with session(output) as current:
        text, name = job_files.text_of(file)
        found = converting.convert(text, name, source)
        terminal = current.terminal
        if terminal.is_for_programs:
            terminal.show_document(
                {"spec": found.spec, "remarks": [asdict(remark) for remark in found.remarks]}
            )
            return
        terminal.show_file(job_file.written(found.spec))
        _tell(terminal, found)


def _tell(terminal: Terminal, found: Converted) -> None:
    """Say what is not as it was, where it does not get into the file."""
    titles = {
        Fate.CHANGED: "Carried over, but not as it was:",
        Fate.LEFT_OUT: "Not carried over:",
    }
    for fate, title in titles.items():
        remarks = [remark for remark in found.remarks if remark.fate is fate]
        if remarks:
            terminal.say(title, style="bold")
        for remark in remarks:
            terminal.say(f"  {remark.what}: {remark.why}")
    terminal.say("Read it, then: concertina validate -f FILE")
