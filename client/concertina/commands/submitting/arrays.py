"""`arrays ls`, `show`, `pause`, `resume`, `cancel`: the trials of one spec as a whole."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import Output, Why
from concertina.connection.questions.trials.arrays import JobArrays
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.job.arrays import array_lines, arrays_table, trials_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.documents import Job, SteeredArray

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
        current.terminal.show_rows(
            found, arrays_table(found), none="No arrays. A job spec with `array:` makes one."
        )


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
    _steer(JobArrays.pause, reference, reason, output, done="are paused")


@app.command("resume")
def resume_array(
    reference: ArrayReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """Queue all paused jobs of an array again."""
    _steer(JobArrays.resume, reference, reason, output, done="are queued again")


@app.command("cancel")
def cancel_array(
    reference: ArrayReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """End all jobs of an array for good."""
    _steer(JobArrays.cancel, reference, reason, output, done="are cancelled")


def _number(job: Job) -> int:
    return job["trial"]["number"] if job["trial"] else 0


def _steer(
    verb: Callable[..., SteeredArray], reference: str, reason: str, output: Format, *, done: str
) -> None:
    with session(output) as current:
        arrays = current.client.arrays
        told = verb(arrays, arrays.find(reference)["id"], reason=reason)
        said = f"{len(told['jobs'])} of its jobs {done}, or will be once they have stopped."
        current.terminal.show(told, f"{array_lines(told)}\n{said}")
