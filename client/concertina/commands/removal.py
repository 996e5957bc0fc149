"""`delete`, `pin`, `unpin`: which jobs are to be forgotten, and which are to stay."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from concertina.commands.options import JobReferences, Output
from concertina.errors import BadInput
from concertina.terminal.session import session
from concertina.terminal.written import Format

Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def delete(references: JobReferences, *, yes: Sure = False, output: Output = Format.TABLE) -> None:
    """Forget jobs that have ended, with their logs and checkpoints. There is no way back."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            name = f"{job['team']}/{job['name']} ({job['id']})"
            if not yes:
                _ask(f"Delete {name}, its logs and its checkpoints?")
            current.client.delete(job["id"])
            current.terminal.show({"deleted": job["id"]}, f"{name} is deleted.")


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise BadInput("Nobody is there to be asked. Say --yes.")
    typer.confirm(question, abort=True, err=True)


def pin(references: JobReferences, *, output: Output = Format.TABLE) -> None:
    """Keep all of these jobs, whatever their age."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            pinned = current.client.pin(job["id"])
            current.terminal.show(pinned, f"{job['name']} ({job['id']}) is kept from now on.")


def unpin(references: JobReferences, *, output: Output = Format.TABLE) -> None:
    """Let jobs go when their time has come."""
    with session(output) as current:
        for job in [current.client.find(reference) for reference in references]:
            unpinned = current.client.unpin(job["id"])
            current.terminal.show(unpinned, f"{job['name']} ({job['id']}) is not kept any more.")
