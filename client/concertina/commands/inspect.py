"""`ps`, `describe`, `explain`, `advice`, `usage`: which jobs are there, and why are they so?"""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from concertina.commands.options import JobReference, Output, Since, Until
from concertina.errors import BadInput, NotFound
from concertina.states import FINAL_STATES, LIVE_STATES
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.job.description import description
from concertina.views.job.explanation import explanation
from concertina.views.job.size_advice import advice_lines, advice_table
from concertina.views.job.usage import usage_view
from concertina.views.jobs import jobs_table

if TYPE_CHECKING:
    from concertina.client import Client
    from concertina.documents import JobDependencies, JobRemovals

_STATES: Final = (*LIVE_STATES, *FINAL_STATES)


class ListOrder(StrEnum):
    """Which jobs come first: those that were submitted last, or those that ended last."""

    SUBMITTED = "submitted"
    FINISHED = "finished"


def ps(
    *,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Final jobs too, newest first.")
    ] = False,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Only this state. May be repeated."),
    ] = None,
    team: Annotated[str | None, typer.Option(metavar="TEAM", help="Only this team.")] = None,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only names with this text.")
    ] = None,
    pool: Annotated[str | None, typer.Option(metavar="POOL", help="Only this pool.")] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", metavar="NAME", help="Only what this person or token sent."),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            metavar="NAME[=VALUE]",
            help="Only with this label. May be repeated: all must fit.",
        ),
    ] = None,
    array: Annotated[
        str | None, typer.Option(metavar="ARRAY", help="Only trials of this array, by id or name.")
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(metavar="SCHEDULE", help="Only what this schedule submitted, by id or name."),
    ] = None,
    since: Since = None,
    until: Until = None,
    order: Annotated[
        ListOrder,
        typer.Option("--sort", help="By when they were submitted, or ended; newest first."),
    ] = ListOrder.SUBMITTED,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Only these columns, as ordered: id,job,why."),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", "-w", help="All columns, and no line cut.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """List jobs: the live ones, unless told otherwise."""
    with session(output) as current:
        is_history = everything or order is ListOrder.FINISHED
        wanted = _checked(states) or (() if is_history else LIVE_STATES)
        found = current.client.jobs(
            states=wanted,
            team=team,
            search=search,
            pool=pool,
            user=user,
            labels=labels or (),
            array=array,
            schedule=schedule,
            since=since,
            until=until,
            order=order,
        )
        jobs = list(islice(found, limit))
        if not jobs and not current.terminal.is_for_programs:
            current.terminal.say("No such jobs. `concertina ps --all` also lists final ones.")
            return
        table = jobs_table(jobs)
        if columns is not None:
            table.choose(columns)
        current.terminal.show(jobs, table, is_uncut=wide)


def describe(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """Show a job whole: facts, generations, workers, events."""
    with session(output) as current:
        client = current.client
        job_id = client.find(reference)["id"]
        job, generations = client.job(job_id), client.generations(job_id)
        workers, events = client.workers(job_id), client.events(job_id)
        removals, dependencies = _removals(client, job_id), _dependencies(client, job_id)
        document = {
            "job": job,
            "generations": generations,
            "workers": workers,
            "events": events,
            "removals": removals,
            "dependencies": dependencies,
        }
        shown = description(job, generations, workers, events, removals, dependencies=dependencies)
        current.terminal.show(document, shown)


def _removals(client: Client, job_id: str) -> JobRemovals | None:
    """Return what of it goes when; None: the service is of a release that does not say it."""
    try:
        return client.keeping.removals(job_id)
    except NotFound:
        return None


def _dependencies(client: Client, job_id: str) -> JobDependencies | None:
    """Return for whom it waits, and who waits for it; None likewise."""
    try:
        return client.dependencies(job_id)
    except NotFound:
        return None


def explain(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """Say why a job waits, or has the workers it has, and how it came to that."""
    with session(output) as current:
        job = current.client.find(reference)
        why = current.client.explain(job["id"])
        current.terminal.show(why, explanation(job, why))


def advice(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """Tell what each GPU of a job brought, and with how many workers it would waste less."""
    with session(output) as current:
        found = current.client.size_advice.of(current.client.find(reference)["id"])
        current.terminal.show(found, advice_table(found))
        if output is Format.TABLE:
            for line in advice_lines(found):
                current.terminal.say(line)


def usage(
    reference: JobReference,
    *,
    worker: Annotated[
        str | None, typer.Option(metavar="WORKER", help="Only this worker, by its id.")
    ] = None,
    points: Annotated[int, typer.Option(min=1, max=5000, help="At most so many lines.")] = 20,
    output: Output = Format.TABLE,
) -> None:
    """Show what a job's workers take of processors, memory and GPUs over time."""
    with session(output) as current:
        job_id = current.client.find(reference)["id"]
        taken = current.client.usage(job_id, worker=worker, points=points)
        current.terminal.show(taken, usage_view(taken))


def _checked(states: list[str] | None) -> list[str]:
    unknown = [state for state in states or () if state not in _STATES]
    if unknown:
        raise BadInput(f"--state {unknown[0]!r} is not a state. Use one of {', '.join(_STATES)}.")
    return states or []
