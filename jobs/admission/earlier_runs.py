"""What did an earlier run of the same training measure? A new run begins with that.

The same training is what runs the same: image, command, folder and environment, on as many GPUs in
each worker. Name, batches, numbers of workers and priority may differ.

What was measured of it is copied once, when a job is submitted: a job that is deleted takes nothing
away from others, and each run hands on what it inherited beside what it measured itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from django.db.models import QuerySet
from tenancy.models import Team

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.fitting.handing_on import handed_on
from autoscaler.planning.speed.sample_worth import RangeWorth
from jobs.lifecycle import State
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
    """With which this job began, the newest last; none without an earlier run."""
    return [EarlierMeasurement(*one) for one in job.earlier_measurements]


def known_at_submission(team: Team, training: str) -> dict[str, Any]:
    """Return the fields of a new job that the newest measured run of its training fills."""
    job = _measured(team, training).first()
    measurements = _handed_on(job) if job else []
    if job is None or not measurements:
        return {}
    noise = [one for one in (job.first_noise_scale, job.noise_scale) if one is not None]
    return {
        "earlier_run": job.id,
        "earlier_measurements": measurements,
        "noise_scale": min(noise, default=None),  # it grows: the less is nearer the beginning
        "model_bytes": job.model_bytes,
        "batch_limits": job.batch_limits,
    }


def said_of(job: Job) -> Iterator[str]:
    """Say by which run its speed is known, if by any."""
    if job.earlier_run:
        yield f"How fast it trains is known from job {job.earlier_run}, which trained the same."


def _measured(team: Team, training: str) -> QuerySet[Job]:
    runs = Job.objects.filter(team=team, training=training, is_measured=True)
    return runs.order_by("-submitted_at")


def _handed_on(job: Job) -> list[EarlierMeasurement]:
    """What it measured and, at other sizes, began with, unless it found that to be wrong."""
    newest = Measurement.objects.filter(job=job).order_by("-updated_at", "-id")[:MOST_INHERITED]
    measured = newest.values_list(*EarlierMeasurement._fields)
    own = [EarlierMeasurement(*one) for one in reversed(measured)]
    return handed_on(own, measurements_of(job))[-MOST_INHERITED:]


def notes(spec: JobSpec, team: Team) -> Iterator[str]:
    """Say that the range reaches further than the noise of the newest completed run supports.

    Noise grows while a training gets on: a run that ended early tells of the beginning only.
    """
    size = spec.batch.global_batch_size
    if size.max <= size.base:
        return
    newest = _measured(team, digest_of(spec)).values("id")[:MOST_RUNS]
    completed = Job.objects.filter(id__in=newest, state=State.COMPLETED)
    told = completed.exclude(first_noise_scale=None)
    earlier = told.order_by("-submitted_at").first()
    if earlier is None:
        return
    worth = RangeWorth.of(base=size.base, largest=size.max, noise_scale=earlier.noise_scale)
    if worth is not None and worth.reaches_too_far:
        yield (
            f"Job {earlier.id}, the last completed run of this training, measured how much a"
            f" larger batch brings: {worth_of_range(worth)}"
        )
