"""What would a recording of inelastic jobs have been with elastic ones?

Columns, under any of these names: submit (submit_time, submitted_time, submitted_at, time),
duration (duration_seconds, run_time) in seconds, gpus (num_gpus, gpu_num), and, if there is one,
team (user, vc, virtual_cluster) and name (job_id, jobid, job).

Such recordings do not say what was trained. As in the Pollux simulator, the GPU time decides: up
to an hour cifar10 or ncf, up to ten deepspeech2 or bert, up to a hundred yolov3, above imagenet;
of two kinds one is drawn by a hash of the job's name. A job has as much work as its kind gets done
in the recorded time on the recorded GPUs, packed on nodes, with its best constant batch.
"""

from __future__ import annotations

import math
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
)
from autoscaler.simulation.engine.workload.importers.table import rows_of
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

if TYPE_CHECKING:
    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.importers.table import Row

SUBMIT: Final = ("submit", "submit_time", "submitted_time", "submitted_at", "time")
DURATION: Final = ("duration", "duration_seconds", "run_time")
GPUS: Final = ("gpus", "num_gpus", "gpu_num")
TEAM: Final = ("team", "user", "vc", "virtual_cluster")
NAME: Final = ("name", "job_id", "jobid", "job")

BY_GPU_HOURS: Final = (  # up to so many GPU-hours: one of these kinds
    (1.0, (CIFAR10, NCF)),
    (10.0, (DEEPSPEECH2, BERT)),
    (100.0, (YOLOV3,)),
    (math.inf, (IMAGENET,)),
)


def read_philly(
    text: str,
    *,
    name: str = "philly",
    pool: str = "default",
    gpus_per_node: int = 8,
    growth: int = 4,
    shortest_seconds: float = 60.0,
) -> Trace:
    """Jobs may grow to `growth` times the recorded GPUs and shrink to one; short ones are left out.

    Time 0 is the first submission.
    """
    rows = list(rows_of(text, needs=(SUBMIT, DURATION, GPUS)))
    kept = [row for row in rows if row.number_of(*DURATION) >= shortest_seconds]
    start = min((row.seconds_of(*SUBMIT) for row in kept), default=0.0)
    return Trace(
        name=name,
        jobs=tuple(_job(row, start, pool, gpus_per_node, growth) for row in kept),
    )


def kind_of(name: str, gpu_seconds: float) -> Profile:
    """The kind of job a recorded one counts as."""
    kinds = next(kinds for hours, kinds in BY_GPU_HOURS if gpu_seconds <= hours * 3600)
    return kinds[crc32(name.encode()) % len(kinds)]


def _job(row: Row, start: float, pool: str, gpus_per_node: int, growth: int) -> TraceJob:
    gpus, seconds = row.count_of(*GPUS), row.number_of(*DURATION)
    name = row.text(*NAME) or f"row-{row.number}"
    profile = kind_of(name, gpus * seconds)
    pace = seconds_per_sample(
        profile,
        profile.batch,
        workers=gpus,
        crosses_nodes=gpus > gpus_per_node,
        counts_noise=False,
    )
    samples = max(seconds / pace, 1.0)
    return TraceJob(
        name=name,
        team=row.text(*TEAM) or "everybody",
        pool=pool,
        submitted_at=row.seconds_of(*SUBMIT) - start,
        profile=profile,
        samples=samples,
        batch=profile.batch,
        declared_samples=max(round(samples), 1),
        max_workers=gpus * growth,
        requested_workers=gpus,
    )
