"""From what may a job of a team start? Its jobs' checkpoints and its models, as they are now.

`latest` and `best` become a step when a job is submitted: so the spec says for ever what it began
with.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from django.conf import settings
from storage.errors import CheckpointUnknown, StorageError
from storage.models import HeldCheckpoint
from storage.results import chosen, held
from storage.results.places import Place, Results
from tenancy.models import Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.models import Job
from jobs.spec.job_spec import JobSpec
from jobs.spec.parts.beginnings import StartFrom


def settled(spec: JobSpec, records: TeamRecords) -> tuple[JobSpec, HeldCheckpoint | None]:
    """Return the spec with the very checkpoint that its job begins with, and what is to be held.

    Raises:
        SpecInvalid: the team has no such checkpoint, or it has no weights.
    """
    start = spec.start_from
    if start is None:
        return spec, None
    found = records.starts.get(start)
    if found is None:
        found = records.starts[start] = _wanted(start, records.team)
    there = {"job": found.source_job, "step": found.step}
    return spec.model_copy(update={"start_from": start.model_copy(update=there)}), found


def want(starts: Iterable[tuple[str, HeldCheckpoint | None]]) -> None:
    """Have the control loop hold what each new job, by its id, starts from."""
    rows = []
    for job_id, start in starts:
        if start is not None:
            row = copy.copy(start)
            row.for_job = job_id
            rows.append(row)
    HeldCheckpoint.objects.bulk_create(rows)


def _wanted(start: StartFrom, team: Team) -> HeldCheckpoint:
    """Return a row that is not stored. Raises: SpecInvalid."""
    jobs = Job.objects.filter(team=team)
    job = jobs.filter(pk=start.job).first() or jobs.filter(name=start.job).first()
    if job is None:
        raise SpecInvalid(
            [
                Problem(
                    field="start_from.job",
                    value=start.job,
                    problem=f"is neither the id nor the name of a job of team {team.name}",
                    remedy="Name one of its jobs: `concertina ps --all` lists them.",
                )
            ]
        )
    results = Results(
        state_dir=settings.CONCERTINA.state_dir, job_id=job.id, place=Place.CHECKPOINTS
    )
    try:
        found = chosen.find(results, str(start.step), job.resolved_spec)
        names = held.names_of(found, with_state=start.what == "all")
    except StorageError as error:
        raise SpecInvalid([_missing(start, job, str(error), error)]) from error
    return HeldCheckpoint(
        source_job=job.id,
        step=found.step,
        names=names,
        digest=found.about.weights_digest if found.about else "",
    )


def _missing(start: StartFrom, job: Job, said: str, error: StorageError) -> Problem:
    is_there = not isinstance(error, CheckpointUnknown)
    return Problem(
        field="start_from.step",
        value=start.step,
        problem=f"cannot be begun with: job {job.name} ({job.id}) has it without plain weights"
        if is_there
        else f"is no checkpoint of job {job.name} ({job.id})",
        remedy=f"{said} `concertina checkpoints {job.id}` lists what there is.",
    )
