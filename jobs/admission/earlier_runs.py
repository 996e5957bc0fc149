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
from dataclasses import dataclass
from typing import Any, Final

from tenancy.models import Team

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.speed.sample_worth import RangeWorth
from jobs.lifecycle import State
from jobs.models import Job, Measurement
from jobs.spec.job_spec import JobSpec

MOST_INHERITED: Final = 30  # measurements, the newest; guessed: a model needs no more
MOST_RUNS: Final = 20  # that are looked at, the newest; guessed: others may have failed at once
_SAME: Final = {"image", "command", "workdir", "env"}


def digest_of(spec: JobSpec) -> str:
    """Equal for specs of the same training."""
    document = spec.model_dump(mode="json", include=_SAME)
    document["gpus_per_worker"] = spec.resources.gpus_per_worker
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """A job of the same training, and what is known by it."""

    job: Job
    measurements: tuple[Measurement, ...]

    @property
    def sentence(self) -> str:
        return f" How fast it trains is known from job {self.job.id}, which trained the same."

    def as_known(self) -> dict[str, Any]:
        """Return the fields with which a new job begins."""
        first = self.job.first_noise_scale
        return {
            "earlier_run": self.job.id,
            "noise_scale": self.job.noise_scale if first is None else first,
            "model_bytes": self.job.model_bytes,
        }

    def hand_on_to(self, job: Job) -> None:
        Measurement.objects.bulk_create(
            Measurement(
                job=job,
                gpu_type=one.gpu_type,
                workers=one.workers,
                nodes=one.nodes,
                global_batch_size=one.global_batch_size,
                steps=one.steps,
                step_seconds=one.step_seconds,
                is_of_earlier_run=True,
            )
            for one in self.measurements
        )


def newest_measured(team: Team, training: str) -> EarlierRun | None:
    """Return the team's newest run of this training of whose speed anything is known."""
    runs = Job.objects.filter(team=team, training=training).order_by("-submitted_at")
    rows = Measurement.objects.filter(job__in=runs.values("id")[:MOST_RUNS])
    newest = rows.order_by("-job__submitted_at", "job", "-updated_at", "-id")[:MOST_INHERITED]
    found = tuple(newest)
    if not found:
        return None
    job = Job.objects.only("first_noise_scale", "noise_scale", "model_bytes").get(
        pk=found[0].job_id
    )
    return EarlierRun(
        job=job, measurements=tuple(one for one in found if one.job_id == found[0].job_id)
    )


def notes(spec: JobSpec, team: Team) -> Iterator[str]:
    """Say that the range reaches further than the noise of the newest completed run supports.

    Noise grows while a training gets on: a run that ended early tells of the beginning only.
    """
    size = spec.batch.global_batch_size
    if size.max <= size.base:
        return
    completed = Job.objects.filter(team=team, training=digest_of(spec), state=State.COMPLETED)
    earlier = completed.exclude(noise_scale=None).order_by("-submitted_at").first()
    if earlier is None:
        return
    worth = RangeWorth.of(base=size.base, largest=size.max, noise_scale=earlier.noise_scale)
    if worth is not None and worth.reaches_too_far:
        yield (
            f"Job {earlier.id}, the last completed run of this training, measured how much a"
            f" larger batch brings: {worth_of_range(worth)}"
        )
