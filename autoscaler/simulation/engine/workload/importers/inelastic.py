"""What would the jobs of an inelastic cluster have been as elastic ones?

Logs of such clusters do not say what was trained. As in the Pollux simulator, the GPU time decides:
up to an hour cifar10 or ncf, up to ten deepspeech2 or bert, up to a hundred yolov3, above imagenet;
of two kinds one is drawn by a hash of the job's name. A job has as much work as its kind gets done
in the recorded time on the recorded GPUs, packed on nodes, with its best constant batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zlib import crc32

from autoscaler.simulation.engine.truth.isolation import seconds_per_sample
from autoscaler.simulation.engine.workload.applications import (
    BERT,
    CIFAR10,
    DEEPSPEECH2,
    IMAGENET,
    NCF,
    YOLOV3,
    batches_on,
)
from autoscaler.simulation.engine.workload.importers.recording import ImportTally, Recording
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.simulation.engine.truth.profiles import Profile

BY_GPU_HOURS: Final = (  # up to so many GPU-hours: one of these kinds
    (1.0, (CIFAR10, NCF)),
    (10.0, (DEEPSPEECH2, BERT)),
    (100.0, (YOLOV3,)),
    (math.inf, (IMAGENET,)),
)
MOST_GPUS: Final = 1e6  # of one job; more is no size, but a mistake
NO_GPU: Final = "used no GPU"
NO_END: Final = "did not run to an end"
ROUNDED_UP: Final = "held a part of a GPU, which counts as a whole one"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedJob:
    """One job that ran. `gpus` may be a fraction; `submitted_at` is on any clock."""

    name: str
    team: str
    submitted_at: float
    seconds: float
    gpus: float


def as_elastic(
    logged: Iterable[LoggedJob],
    tally: ImportTally,
    *,
    name: str,
    gpus_per_node: int = 8,
    growth: int = 4,
    shortest_seconds: float = 60.0,
) -> Recording:
    """Jobs may grow to `growth` times the recorded GPUs and shrink to one; short ones are left out.

    Time 0 is the first submission.
    """
    kept = []
    for job in logged:
        if job.gpus <= 0:
            tally.leave_out(NO_GPU)
        elif job.seconds < shortest_seconds:
            tally.leave_out(f"ran for less than {shortest_seconds:g} s")
        else:
            kept.append(job)
    tally.change(ROUNDED_UP, sum(job.gpus != int(job.gpus) for job in kept))
    start = min((job.submitted_at for job in kept), default=0.0)
    jobs = tuple(_elastic(job, start, gpus_per_node, growth) for job in kept)
    return tally.recording(Trace(name=name, jobs=jobs))


def kind_of(name: str, gpu_seconds: float) -> Profile:
    """The kind of job a recorded one counts as."""
    kinds = next(kinds for hours, kinds in BY_GPU_HOURS if gpu_seconds <= hours * 3600)
    return kinds[crc32(name.encode()) % len(kinds)]


def _elastic(job: LoggedJob, start: float, gpus_per_node: int, growth: int) -> TraceJob:
    gpus = math.ceil(job.gpus)
    profile = kind_of(job.name, gpus * job.seconds)
    workers = min(gpus, profile.batch.maximum)  # each needs a sample of the batch
    pace = seconds_per_sample(
        profile,
        profile.batch,
        workers=workers,
        crosses_nodes=gpus > gpus_per_node,
        counts_noise=False,
    )
    samples = max(job.seconds / pace, 1.0)
    return TraceJob(
        name=job.name,
        team=job.team,
        pool="default",
        submitted_at=job.submitted_at - start,
        profile=profile,
        samples=samples,
        batch=batches_on(profile, workers),
        declared_samples=max(round(samples), 1),
        max_workers=workers * growth,
        requested_workers=workers,
    )
