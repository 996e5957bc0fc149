"""`arrays ls`, `show`, `pause`, `resume`, `cancel`: the trials of one spec as a whole."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import Output, Why
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.job.arrays import array_lines, arrays_table, trials_table

if TYPE_CHECKING:
    from concertina.documents import Job, SteeredArray
    from concertina.terminal.session import Terminal

app = typer.Typer(no_args_is_help=True, help="Jobs that are trials of one spec, as a whole.")
ArrayReference = Annotated[
    str, typer.Argument(metavar="ARRAY", help="An id, a name, or team/name.", show_default=False)
]


@app.command("ls")
def list_arrays(
    *,
    team: Annotated[str | None, typer.Option(metavar="TEAM", help="Only this team.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    output: Output = Format.TABLE,
) -> None:
    """List arrays, the newest first, and how their jobs stand."""
    with session(output) as current:
        found = list(islice(current.client.arrays.every(team=team), limit))
        if not found and not current.terminal.is_for_programs:
            current.terminal.say("No arrays. A job spec with `array:` makes one.")
            return
        current.terminal.show(found, arrays_table(found))


@app.command("show")
def show_array(reference: ArrayReference, *, output: Output = Format.TABLE) -> None:
    """Show each trial of an array: its values, and what came of it."""
    with session(output) as current:
        array = current.client.arrays.find(reference)
        jobs = sorted(current.client.jobs(array=array["id"]), key=_number)
        current.terminal.say(array_lines(array))
        current.terminal.show({**array, "jobs": jobs}, trials_table(array, jobs))


@app.command("pause")
def pause_array(
    reference: ArrayReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """Have all jobs of an array give their GPUs back after a checkpoint."""
    with session(output) as current:
        arrays = current.client.arrays
        told = arrays.pause(arrays.find(reference)["id"], reason=reason)
        _tell(current.terminal, told, "are paused")


@app.command("resume")
def resume_array(
    reference: ArrayReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """Queue all paused jobs of an array again."""
    with session(output) as current:
        arrays = current.client.arrays
        told = arrays.resume(arrays.find(reference)["id"], reason=reason)
        _tell(current.terminal, told, "are queued again")


@app.command("cancel")
def cancel_array(
    reference: ArrayReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """End all jobs of an array for good."""
    with session(output) as current:
        arrays = current.client.arrays
        told = arrays.cancel(arrays.find(reference)["id"], reason=reason)
        _tell(current.terminal, told, "are cancelled")


def _number(job: Job) -> int:
    return job["trial"]["number"] if job["trial"] else 0


def _tell(terminal: Terminal, array: SteeredArray, done: str) -> None:
    said = f"{len(array['jobs'])} of its jobs {done}, or will be once they have stopped."
    terminal.show(array, f"{array_lines(array)}\n{said}")
