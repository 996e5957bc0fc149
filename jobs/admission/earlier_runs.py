"""What did an earlier run of the same training measure? A new run begins with that.

The same training is what runs the same: image, command, folder and environment, on as many GPUs in
each worker. Name, batches, numbers of workers and priority may differ.

What was measured of it is copied once, when a job is submitted: a job that is deleted takes nothing
away from others, and each run hands on what it inherited beside what it measured itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from tenancy.models import Team

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.fitting.handing_on import handed_on
from autoscaler.planning.speed.sample_worth import RangeWorth
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from jobs.spec.job_spec import JobSpec

MOST_INHERITED: Final = 20  # measurements, the newest; guessed: a model needs no more
MOST_RUNS: Final = 20  # that are looked through for a completed one, the newest; guessed
_SAME: Final = {"image", "command", "workdir", "env"}


def digest_of(spec: JobSpec) -> str:
    """Equal for specs of the same training."""
    document = spec.model_dump(mode="json", include=_SAME)
    document["gpus_per_worker"] = spec.resources.gpus_per_worker
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


class EarlierMeasurement(NamedTuple):
    """One of an earlier run, as it is kept in the row of a job that began with it."""

    gpu_type: str
    workers: int
    nodes: int
    global_batch_size: int
    steps: int
    step_seconds: float


def measurements_of(job: Job) -> list[EarlierMeasurement]:
    """Return those with which this job began, the newest last; none without an earlier run."""
    return [EarlierMeasurement(*one) for one in job.earlier_measurements]


def said_of(job: Job) -> Iterator[str]:
    """Say by which run its speed is known, if by any."""
    if job.earlier_run:
        yield f"How fast it trains is known from job {job.earlier_run}, which trained the same."


class _Run(NamedTuple):
    id: str
    state: str
    first_noise_scale: float | None
    noise_scale: float | None


_NEWEST: Final = """
    SELECT asked.training, run.id, run.state, run.first_noise_scale, run.noise_scale
    FROM unnest(%(trainings)s::text[]) AS asked(training) CROSS JOIN LATERAL (
        SELECT * FROM jobs_job
        WHERE team_id = %(team)s AND training = asked.training AND is_measured
        ORDER BY submitted_at DESC LIMIT %(most)s
    ) run ORDER BY run.submitted_at DESC
"""


class EarlierRuns:
    """The measured runs of some trainings of a team; as many statements for many as for one."""

    def __init__(self, team: Team, trainings: Collection[str]) -> None:
        self._runs: dict[str, list[_Run]] = {}  # newest first, by training
        with connection.cursor() as cursor:
            cursor.execute(
                _NEWEST, {"team": team.pk, "trainings": [*{*trainings}], "most": MOST_RUNS}
            )
            for training, *run in cursor.fetchall():
                self._runs.setdefault(training, []).append(_Run(*run))

    def known_at_submission(self, training: str) -> dict[str, Any]:
        """Return the fields of a new job that the newest measured run of its training fills."""
        return self._known.get(training, {})

    def notes(self, spec: JobSpec, training: str) -> Iterator[str]:
        """Say that the range reaches further than the noise of the newest completed run supports.

        Noise grows while a training gets on: a run that ended early tells of the beginning only.
        """
        size = spec.batch.global_batch_size
        if size.max <= size.base:
            return
        completed = (
            run
            for run in self._runs.get(training, ())
            if run.state == JobState.COMPLETED and run.first_noise_scale is not None
        )
        earlier = next(completed, None)
        if earlier is None:
            return
        worth = RangeWorth.of(base=size.base, largest=size.max, noise_scale=earlier.noise_scale)
        if worth is not None and worth.reaches_too_far:
            yield (
                f"Job {earlier.id}, the last completed run of this training, measured how much a"
                f" larger batch brings: {worth_of_range(worth)}"
            )

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        newest = [runs[0].id for runs in self._runs.values()]
        if not newest:
            return {}
        place = Window(
            RowNumber(), partition_by="job", order_by=[F("updated_at").desc(), F("id").desc()]
        )
        rows = Measurement.objects.filter(job__in=newest).annotate(place=place)
        measured: defaultdict[str, list[EarlierMeasurement]] = defaultdict(list)
        for row in rows.filter(place__lte=MOST_INHERITED).order_by("-place"):
            measured[row.job_id].append(_measurement_of(row))
        known = Job.objects.filter(pk__in=newest).defer("spec", "resolved_spec", "explanation")
        return {job.training: _filled_by(job, measured[job.id]) for job in known}


def _measurement_of(row: Measurement) -> EarlierMeasurement:
    return EarlierMeasurement._make(getattr(row, name) for name in EarlierMeasurement._fields)


def _filled_by(job: Job, measured: Sequence[EarlierMeasurement]) -> dict[str, Any]:
    measurements = handed_on(measured, measurements_of(job))[-MOST_INHERITED:]
    if not measurements:
        return {}
    noise = [one for one in (job.first_noise_scale, job.noise_scale) if one is not None]
    return {
        "earlier_run": job.id,
        "earlier_measurements": measurements,
        "noise_scale": min(noise, default=None),  # it grows: the less is nearer the beginning
        "model_bytes": job.model_bytes,
        "batch_limits": job.batch_limits,
    }
