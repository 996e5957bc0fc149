"""`submit`, `validate`, `wait`: from a file of jobs to a job's outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.code.packing import packed
from concertina.commands.options import (
    After,
    Assignments,
    File,
    JobReference,
    Output,
    TemplateOption,
)
from concertina.commands.submitting import sweeps
from concertina.commands.submitting.code import folder_beside, uploaded
from concertina.commands.submitting.submitted import finish, tell, wait_for
from concertina.errors import BadInput, RefusedByService
from concertina.input import bulk_files, job_files, overrides
from concertina.input.after import waiting
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.outlook import outlook_lines

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def submit(
    *,
    file: File,
    assignments: Assignments = None,
    template: TemplateOption = None,
    after: After = None,
    bulk: Annotated[
        bool,
        typer.Option("--bulk", help="The file has many jobs: all are queued, or none."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Submit nothing; say what would become of the job now."),
    ] = False,
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
    """Queue a job, or many: those of a bulk, or of the spec's `array` or `sweep`."""
    with session(output) as current:
        if dry_run and wait:
            raise BadInput("--dry-run submits nothing that --wait could wait for. Leave one out.")
        if bulk:
            _check_is_of_many(after=after, template=template, dry_run=dry_run, wait=wait)
            _submit_bulk(current, file, assignments, idempotency_key)
            return
        spec = waiting(_spec(current, file, assignments, template), after or ())
        if dry_run:
            _validate(current, spec, file, looks_ahead=True)
            return
        if wait and _makes_many(spec):
            raise _waits_for_many()
        if (folder := folder_beside(spec, file)) is not None:
            spec = uploaded(current, spec, folder)
        if _makes_many(spec):
            _submit_trials(current, spec, idempotency_key)
            return
        submission = current.client.submit(spec, idempotency_key=idempotency_key)
        tell(current, submission)
        finish(current, submission, is_waiting=wait)


def _check_is_of_many(
    *, after: list[str] | None, template: str | None, dry_run: bool, wait: bool
) -> None:
    """Refuse what is about one job. Raises: BadInput."""
    if after:
        raise BadInput("--after is of one job. In a bulk, write depends_on into the specs.")
    if template:
        raise BadInput("--template is of one job. In a bulk, write template into the specs.")
    if dry_run:
        raise BadInput("--dry-run looks ahead for one job. Leave out --bulk.")
    if wait:
        raise _waits_for_many()


def _submit_bulk(
    current: Session,
    file: str,
    assignments: list[str] | None,
    idempotency_key: str | None,
) -> None:
    source = bulk_files.read(file, assignments or ())
    current.place_of = source.place
    bulk = _with_codes(current, source.spec, file)
    _submit_many(current, bulk, idempotency_key)


def _makes_many(spec: dict[str, Any]) -> bool:
    return "array" in spec or "sweep" in spec


def _submit_trials(current: Session, spec: dict[str, Any], idempotency_key: str | None) -> None:
    if "sweep" in spec:
        sweeps.begin(current, spec, idempotency_key)
    else:
        _submit_many(current, {"spec": spec}, idempotency_key)


def _waits_for_many() -> BadInput:
    return BadInput("--wait waits for one job. Submit many without it, then wait for each.")


def _submit_many(current: Session, bulk: dict[str, Any], idempotency_key: str | None) -> None:
    made = current.client.submit_bulk(bulk, idempotency_key=idempotency_key)
    items = made.jobs["items"]
    verb = "Submitted" if made.is_new else "This key had submitted"
    array = f" of array {made.jobs['array']}" if made.jobs.get("array") else ""
    current.terminal.say(f"{verb} {len(items)} job{'s' if len(items) > 1 else ''}{array}.")
    for note in made.jobs["notes"] if made.is_new else ():
        current.terminal.say(f"Note: {note}")
    lines = "\n".join(f"{job['id']}  {job['name']}" for job in items)
    current.terminal.show(made.jobs, lines)


def _with_codes(current: Session, bulk: dict[str, Any], file: str) -> dict[str, Any]:
    """Upload the code of the jobs, each folder once for each team."""
    codes: dict[tuple[Path, Any], Any] = {}

    def settled(part: Any) -> Any:
        folder = folder_beside(part, file) if isinstance(part, dict) else None
        if folder is None:
            return part
        key = (folder, str(part.get("team") or part.get("project")))
        if key not in codes:
            codes[key] = uploaded(current, part, folder)["code"]
        return {**part, "code": codes[key]}

    found = {
        "jobs": [settled(one) for one in bulk.get("jobs", ())],
        "spec": settled(bulk.get("spec")),
    }
    return {**bulk, **{name: value for name, value in found.items() if name in bulk}}


def validate(
    *,
    file: File,
    assignments: Assignments = None,
    template: TemplateOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Ask what a submit would say, without submitting."""
    with session(output) as current:
        _validate(current, _spec(current, file, assignments, template), file)


def _validate(
    current: Session, spec: dict[str, Any], file: str, *, looks_ahead: bool = False
) -> None:
    if (folder := folder_beside(spec, file)) is not None:
        with packed(folder):  # it can be; the service need not have it for this
            spec = {**spec, "code": None}
    answer = current.client.validate(spec, outlook=looks_ahead)
    if answer["problems"]:
        raise RefusedByService(
            "The spec is wrong.", code="invalid_spec", details=answer["problems"]
        )
    trials = answer.get("trials", 0)
    kind = "sweep" if "sweep" in spec else "array"
    of_many = [f"Its {kind} makes {words.jobs(trials)}; the first is looked at."] if trials else []
    lines = ["The spec is valid.", *of_many, *(f"Note: {note}" for note in answer["notes"])]
    if looks_ahead:
        lines += outlook_lines(answer.get("outlook"))
    current.terminal.show(answer, "\n".join(lines))


def wait(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """Stay until a job is final; tell its outcome."""
    with session(output) as current:
        wait_for(current, current.client.find(reference))


def _spec(
    current: Session, file: str, assignments: list[str] | None, template: str | None
) -> dict[str, Any]:
    source = job_files.read(file)
    current.place_of = source.place
    spec = overrides.applied(source.spec, assignments or ())
    return spec if template is None else {**spec, "template": template}
