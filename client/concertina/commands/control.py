"""`pause`, `resume`, `cancel`: what people may do to a job that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import JobReferences, Output, Why
from concertina.terminal.session import Terminal, session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from concertina.documents import Job


def pause(references: JobReferences, *, reason: Why = "", output: Output = Format.TABLE) -> None:
    """Checkpoint jobs and give their GPUs back, until they are resumed."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            _tell(current.terminal, current.client.pause(job["id"], reason=reason))


def resume(references: JobReferences, *, reason: Why = "", output: Output = Format.TABLE) -> None:
    """Queue paused jobs again; they go on from their checkpoints."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            _tell(current.terminal, current.client.resume(job["id"], reason=reason))


def cancel(
    references: JobReferences,
    *,
    tree: Annotated[
        bool, typer.Option("--tree", help="Also all that waits for them, and for those.")
    ] = False,
    reason: Why = "",
    output: Output = Format.TABLE,
) -> None:
    """End jobs for good."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            _tell(current.terminal, current.client.cancel(job["id"], reason=reason, tree=tree))
            if tree:
                current.terminal.say("All that waited for it is cancelled as well.")


def _tell(terminal: Terminal, job: Job) -> None:
    terminal.show(job, f"{job['team']}/{job['name']} ({job['id']}) is {job['state']} now.")
