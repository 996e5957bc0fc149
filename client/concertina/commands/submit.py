"""`submit`, `validate`, `wait`: from a job file to a job's outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import Assignments, File, JobReference, Output
from concertina.commands.submitted import tell, wait_for
from concertina.errors import Refused
from concertina.input import job_files, overrides
from concertina.terminal.session import Format, Session, session

if TYPE_CHECKING:
    from typing import Any


def submit(
    *,
    file: File,
    assignments: Assignments = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Stay until the job is final; tell its outcome.")
    ] = False,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="The same key within 24 h means the same job. Made up when left out.",
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Queue a job."""
    with session(output) as current:
        spec = _spec(current, file, assignments)
        submission = current.client.submit(spec, idempotency_key=idempotency_key)
        tell(current, submission)
        if wait:
            wait_for(current, submission.job)
        elif current.terminal.is_json:
            current.terminal.show_json(submission.job)


def validate(*, file: File, assignments: Assignments = None, output: Output = Format.TABLE) -> None:
    """Ask what a submit would say, without submitting."""
    with session(output) as current:
        answer = current.client.validate(_spec(current, file, assignments))
        if answer["problems"]:
            raise Refused("The spec is wrong.", code="invalid_spec", details=answer["problems"])
        lines = ["The spec is valid.", *(f"Note: {note}" for note in answer["notes"])]
        current.terminal.show(answer, "\n".join(lines))


def wait(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """Stay until a job is final; tell its outcome."""
    with session(output) as current:
        wait_for(current, current.client.find(reference))


def _spec(current: Session, file: str, assignments: list[str] | None) -> dict[str, Any]:
    source = job_files.read(file)
    current.place_of = source.place
    return overrides.applied(source.spec, assignments or ())
