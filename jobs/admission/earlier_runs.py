"""What did an earlier run of the same training find out about the range of batches?

The same training is a job of the team with the same name, image, command, folder and environment,
whatever its batches, workers and priority were. Only runs that completed count: gradient noise
grows while a training gets on, so that a run which ended early tells of the beginning only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.models import Team

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.speed.sample_worth import RangeWorth
from jobs.lifecycle import State
from jobs.models import Job
from jobs.spec.job_spec import JobSpec

_SAME: Final = ("image", "command", "workdir", "env")


def notes(spec: JobSpec, team: Team) -> Iterator[str]:
    """Say that the range reaches further than the noise of the newest such run supports."""
    size = spec.batch.global_batch_size
    if size.max <= size.base:
        return
    earlier = _newest_run(spec, team)
    if earlier is None:
        return
    worth = RangeWorth.of(base=size.base, largest=size.max, noise_scale=earlier.noise_scale)
    if worth is not None and worth.reaches_too_far:
        yield (
            f"Job {earlier.id}, the last completed run of this training, measured how much a"
            f" larger batch brings: {worth_of_range(worth)}"
        )


def _newest_run(spec: JobSpec, team: Team) -> Job | None:
    document = spec.model_dump(mode="json", include=set(_SAME))
    same = {f"resolved_spec__{name}": document[name] for name in _SAME}
    completed = Job.objects.filter(team=team, state=State.COMPLETED, name=spec.name, **same)
    return completed.exclude(noise_scale=None).order_by("-submitted_at").first()
