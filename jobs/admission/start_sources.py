"""From what may a job of a team start? Its jobs' checkpoints and its models, as they are now.

`latest`, `best` and words for versions become numbers when a job is submitted: so the spec says for
ever what it began with.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.conf import settings
from storage.errors import CheckpointUnknown, ModelUnknown, StorageError
from storage.models import HeldCheckpoint, ModelVersion
from storage.results import chosen, held, named
from storage.results.checkpoints import WholeCheckpoint
from storage.results.chosen import Measure
from storage.results.folders import ResultFolder, Results
from storage.results.named import ModelOrigin
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.lifecycle import LIVE
from jobs.models import Job
from jobs.spec import stored_spec
from jobs.spec.job_spec import JobSpec
from jobs.spec.parts.beginnings import StartFrom
from jobs.spec.stored_fields import START_MODEL

_BEFORE_VERSION: Final = "@"


def settled(spec: JobSpec, records: TeamRecords) -> tuple[JobSpec, HeldCheckpoint | None]:
    """Return the spec with the very checkpoint that its job begins with, and what is to be held.

    Raises:
        SpecInvalid: the team has no such checkpoint or model, or it has no weights.
    """
    start = spec.start_from
    if start is None:
        return spec, None
    key = start.model_dump_json()
    if key not in records.starts:
        if start.model is None:
            records.starts[key] = _of_job(start, records)
        else:
            records.starts[key] = _of_model(start, records.team)
    meant, row = records.starts[key]
    return spec.model_copy(update={"start_from": meant}), row


def want(starts: Iterable[tuple[str, HeldCheckpoint | None]]) -> None:
    """Have the control loop hold what each new job, by its id, starts from.

    Models stay as they are until the transaction of the new jobs is over.

    Raises:
        SpecInvalid: a model has just been deleted.
    """
    rows = []
    for job_id, start in starts:
        if start is not None:
            row = copy.copy(start)
            row.for_job = job_id
            rows.append(row)
    _keep_models({row.source_held for row in rows if row.source_held is not None})
    HeldCheckpoint.objects.bulk_create(rows)


def job_of(team: Team, reference: str, bounds: TokenBounds | None = None) -> Job | None:
    """Find a job of the team by its id, or the newest of this name, within bounds of a token."""
    jobs = Job.objects.filter(team=team)
    if bounds is not None:
        jobs = jobs.filter(bounds.condition())
    return jobs.filter(pk=reference).first() or jobs.filter(name=reference).first()


def checkpoints_of(job: Job) -> Results:
    """Return where the job keeps its checkpoints."""
    state_dir = settings.CONCERTINA.state_dir
    return Results(state_dir=state_dir, job_id=job.id, place=ResultFolder.CHECKPOINTS)


def checkpoint_of(job: Job, which: str) -> WholeCheckpoint:
    """Return the checkpoint of this step, or the `latest`, or the `best` as the spec measures it.

    Raises:
        CheckpointUnknown: there is none.
    """
    rule = stored_spec.read(job.resolved_spec).spec.checkpoint.keep_best
    measure = None if rule is None else Measure(metric=rule.metric, goal=rule.goal)
    return chosen.find(checkpoints_of(job), which, measure)


def origin_of(job: Job) -> ModelOrigin:
    """Return what a model tells for ever of the job that it comes from."""
    sources = [
        {
            "name": use.source,
            "path": use.path,
            "version": job.data_versions.get(use.source, ""),
        }
        for use in stored_spec.read(job.resolved_spec).spec.data
    ]
    return ModelOrigin(
        job_id=job.id, job_name=job.name, code=job.code, sources=sources, spec=job.resolved_spec
    )


def live_users(team: Team, model: str) -> Mapping[int, Sequence[str]]:
    """Name the live jobs that start from each version of a model."""
    live = Job.objects.filter(
        team=team,
        state__in=LIVE,
        **{f"{START_MODEL.lookup}__startswith": f"{model}{_BEFORE_VERSION}"},
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for job_id, name, meant in live.values_list("id", "name", START_MODEL.lookup):
        found[int(meant.rpartition(_BEFORE_VERSION)[2])].append(f"{name} ({job_id})")
    return found


def _of_model(start: StartFrom, team: Team) -> tuple[StartFrom, HeldCheckpoint]:
    """Return what is meant, and a row for it that is not stored. Raises: SpecInvalid."""
    name, _, version = (start.model or "").partition(_BEFORE_VERSION)
    try:
        found = named.find(team, name, version or named.NEWEST)
    except ModelUnknown as error:
        raise SpecInvalid([_no_model(start.model, team)]) from error
    if found.held.state == HeldCheckpoint.State.LOST:
        raise SpecInvalid(
            [
                Problem(
                    field="start_from.model",
                    value=start.model,
                    problem="is lost: its checkpoint was removed before it could be stored",
                    remedy="Use another version: `concertina models ls` lists them.",
                )
            ]
        )
    row = HeldCheckpoint(
        source_held=found.held_id,
        step=found.held.step,
        names=held.names_of_held(with_state=start.what == "all"),
        digest=found.held.digest,
    )
    return start.model_copy(update={"model": str(found)}), row


def _keep_models(held_ids: set[int]) -> None:
    """Lock their versions, as whoever deletes one does. Raises: SpecInvalid."""
    if not held_ids:
        return
    versions = ModelVersion.objects.filter(held__in=held_ids).order_by("pk")
    locked = versions.select_for_update(no_key=True, of=("self",)).values_list("held_id", flat=True)
    if len(locked) < len(held_ids):
        raise SpecInvalid(
            [
                Problem(
                    field="start_from.model",
                    value=None,
                    problem="has just been deleted",
                    remedy="Use another version: `concertina models ls` lists them.",
                )
            ]
        )


def _no_model(value: str | None, team: Team) -> Problem:
    return Problem(
        field="start_from.model",
        value=value,
        problem=f"is not a model of team {team.name}",
        remedy="Write NAME, NAME@VERSION or NAME@ALIAS: `concertina models ls` lists them.",
    )


def _of_job(start: StartFrom, records: TeamRecords) -> tuple[StartFrom, HeldCheckpoint]:
    """Return what is meant, and a row for it that is not stored. Raises: SpecInvalid."""
    team = records.team
    job = job_of(team, start.job or "", records.bounds)
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
    step = "latest" if start.step is None else start.step
    try:
        found = checkpoint_of(job, str(step))
        names = held.names_of(found, with_state=start.what == "all")
    except StorageError as error:
        raise SpecInvalid([_missing(step, job, error)]) from error
    row = HeldCheckpoint(
        source_job=job.id,
        step=found.step,
        names=names,
        digest=found.about.weights_digest if found.about else "",
    )
    return start.model_copy(update={"job": job.id, "step": found.step}), row


def _missing(step: int | str, job: Job, error: StorageError) -> Problem:
    is_there = not isinstance(error, CheckpointUnknown)
    return Problem(
        field="start_from.step",
        value=step,
        problem=f"cannot be begun with: job {job.name} ({job.id}) has it without plain weights"
        if is_there
        else f"is no checkpoint of job {job.name} ({job.id})",
        remedy=f"{error} `concertina checkpoints {job.id}` lists what there is.",
    )
