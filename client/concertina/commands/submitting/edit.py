"""`edit`, `rerun`: from a job that there is to one that asks for something else."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import Assignments, JobReference, Output, PoolsOption
from concertina.commands.submitting.submitted import finish, tell
from concertina.errors import BadInput
from concertina.input import overrides
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.job import changes as views


def edit(
    reference: JobReference,
    *,
    min_workers: Annotated[int | None, typer.Option(metavar="N", help="Fewest workers.")] = None,
    max_workers: Annotated[int | None, typer.Option(metavar="N", help="Most workers.")] = None,
    min_batch: Annotated[
        int | None, typer.Option(metavar="N", help="Smallest global batch.")
    ] = None,
    max_batch: Annotated[
        int | None, typer.Option(metavar="N", help="Largest global batch.")
    ] = None,
    pools: PoolsOption = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="0 to 100, within the team.")
    ] = None,
    preemptibility: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="preemptible, semi_preemptible or non_preemptible."),
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="As 2026-12-24T18:00:00Z.")
    ] = None,
    max_duration: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Of holding GPUs, as 12h.")
    ] = None,
    budget_gpu_hours: Annotated[
        float | None, typer.Option(metavar="HOURS", help="GPU-hours that it may hold in all.")
    ] = None,
    max_restarts: Annotated[
        int | None, typer.Option(metavar="N", help="After failures of its own code.")
    ] = None,
    min_interval: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Between two changes, as 5m.")
    ] = None,
    assignments: Assignments = None,
    output: Output = Format.TABLE,
) -> None:
    """Change what a live job asks for. It counts from the next planning tick on."""
    given = {
        "elastic.min_workers": min_workers,
        "elastic.max_workers": max_workers,
        "batch.global_batch_size.min": min_batch,
        "batch.global_batch_size.max": max_batch,
        "pools": overrides.names_of(pools),
        "priority": priority,
        "preemptibility": preemptibility,
        "deadline": deadline,
        "max_duration": max_duration,
        "budget_gpu_hours": budget_gpu_hours,
        "retry.max_restarts": max_restarts,
        "elastic.min_interval": min_interval,
    }
    with session(output) as current:
        changes = overrides.applied(overrides.nested(given), assignments or ())
        if not changes:
            raise BadInput(
                "Say what to change, as --max-workers 8; `concertina edit --help` tells more."
            )
        before = current.client.job(current.client.find(reference)["id"])
        job = current.client.edit(before["id"], changes)
        for note in job["notes"]:
            current.terminal.say(f"Note: {note}")
        current.terminal.show(job, views.changed(before, job))


def rerun(
    reference: JobReference,
    *,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the new job, while the old one lives.")
    ] = None,
    assignments: Assignments = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Stay until the job is final; tell its outcome.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """Submit a job's spec once more, with changes of any of its fields."""
    with session(output) as current:
        job = current.client.find(reference)
        changes = overrides.applied(overrides.nested({"name": name}), assignments or ())
        submission = current.client.rerun(job["id"], changes)
        tell(current, submission)
        finish(current, submission, is_waiting=wait)
