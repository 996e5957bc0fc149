"""How long did a job train at each size, and how fast was it there? Read in two statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import connection

from autoscaler.control_loop.observe.for_planner.pool_view import all_reduce
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.fitting.observations import MIN_STEPS
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import Configurations
from autoscaler.size_advice.arithmetic import SizeAdvice, TriedSize, advise
from autoscaler.size_advice.spec_range import usable_workers
from jobs.models import Job, Measurement
from jobs.spec import stored_spec
from jobs.spec.job_spec import JobSpec

_MOST_SIZES: Final = 64  # of a curve; guessed: what a chart shows
_MOST_MEASUREMENTS: Final = 1_000  # the newest; far more than configurations
_TIMES: Final = """
    SELECT workers, mode() WITHIN GROUP (ORDER BY global_batch_size),
        sum(greatest(extract(epoch FROM coalesce(ended_at, %(until)s) - began_at)::float8
            - stall_seconds, 0))
    FROM jobs_generation
    WHERE job_id = %(job)s AND workers > 0
    GROUP BY workers ORDER BY workers
"""


def advice_for(job: Job, now: datetime) -> SizeAdvice:
    """Return what is advised about a job's number of workers; its pool is to be read with it."""
    spec = stored_spec.read(job.resolved_spec).spec
    times = _times(job, now)
    measured = _measured(job)
    rates = _rates(measured)
    sizes = _sizes({*times, *rates}, rates)
    batches = {workers: times[workers][0] if workers in times else 0 for workers in sizes}
    batch = _batch_range(spec)
    scaling = _scaling(job, measured, batch) if len(rates) > 1 else None
    predicted = _predicted(scaling, batches, batch, measured)
    return advise(
        [
            TriedSize(
                workers=workers,
                seconds=times[workers][1] if workers in times else 0.0,
                measured=rates.get(workers),
                predicted=predicted[workers][0] if workers in predicted else None,
                relative_error=predicted[workers][1] if workers in predicted else None,
            )
            for workers in sizes
        ],
        gpus_per_worker=max(spec.resources.gpus_per_worker, 1),
        min_workers=spec.elastic.min_workers,
        allowed=usable_workers(spec.elastic, spec.batch.bounds()),
    )


def _times(job: Job, now: datetime) -> Mapping[int, tuple[int, float]]:
    """Return the usual batch of each size, and for how many seconds it trained so."""
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"job": job.pk, "until": job.finished_at or now})
        return {workers: (batch, max(seconds, 0.0)) for workers, batch, seconds in cursor}


def _measured(job: Job) -> Sequence[StepTime]:
    """Return what was measured on GPUs as its pool has them."""
    newest = Measurement.objects.filter(job=job, gpu_type__in=("", job.pool.gpu_type))
    return [
        StepTime(
            workers=one.workers,
            nodes=one.nodes,
            global_batch_size=one.global_batch_size,
            steps=one.steps,
            step_seconds=one.step_seconds,
            gpu_type=one.gpu_type,
        )
        for one in newest.order_by("-updated_at", "-pk")[:_MOST_MEASUREMENTS]
    ]


def _batch_range(spec: JobSpec) -> BatchRange:
    bounds = spec.batch.bounds()
    return BatchRange(
        base=bounds.base,
        minimum=bounds.minimum,
        maximum=bounds.maximum,
        multiple_of=bounds.multiple_of,
        max_per_gpu=spec.batch.max_per_worker,
        accumulation=bounds.has_accumulation,
    )


def _scaling(job: Job, measured: Sequence[StepTime], batch: BatchRange) -> ScalingModel | None:
    return fit(
        measured,
        gpu_type=job.pool.gpu_type,
        model_bytes=job.model_bytes,
        batch=batch,
        all_reduce=all_reduce(job.pool),
    )


def _rates(measured: Sequence[StepTime]) -> Mapping[int, float]:
    """Return samples per second of each size, over all batches and nodes that it had."""
    samples: defaultdict[int, float] = defaultdict(float)
    seconds: defaultdict[int, float] = defaultdict(float)
    for one in measured:
        if one.steps >= MIN_STEPS:
            samples[one.workers] += one.steps * float(one.global_batch_size)
            seconds[one.workers] += one.steps * one.step_seconds
    return {workers: samples[workers] / seconds[workers] for workers in sorted(samples)}


def _sizes(known: set[int], rates: Mapping[int, float]) -> Sequence[int]:
    """Return the sizes that it had and, between those that were measured, all others."""
    if len(rates) > 1:
        least, most = min(rates), max(rates)
        step = -(-(most - least + 1) // _MOST_SIZES)
        known |= set(range(least, most + 1, step))
    return sorted(known)


def _predicted(
    scaling: ScalingModel | None,
    batches: Mapping[int, int],
    batch: BatchRange,
    measured: Sequence[StepTime],
) -> Mapping[int, tuple[float, float]]:
    """Return the model's samples per second of each size with its batch, and how sure it is."""
    if scaling is None or not batches:
        return {}
    nodes = {one.workers: one.nodes for one in measured}
    workers = sorted(batches)
    largest_inside = max((k for k, count in nodes.items() if count == 1), default=0)
    chosen = [_batch_near(k, batches, batch.base) for k in workers]
    at = Configurations.of(
        workers=workers,
        crosses_nodes=[nodes.get(k, 1 if k <= largest_inside else 2) > 1 for k in workers],
        global_batch=chosen,
        micro_batch=batch.max_per_gpu,
    )
    seconds, errors = scaling.throughput.step_seconds(at), scaling.relative_error(at)
    found: dict[int, Any] = {
        k: (float(one / s), float(error))
        for k, one, s, error in zip(workers, chosen, seconds, errors, strict=True)
    }
    return found


def _batch_near(workers: int, batches: Mapping[int, int], base: int) -> int:
    """Return the batch of this size, else of the nearest that it trained with."""
    known = {k: batch for k, batch in batches.items() if batch}
    if not known:
        return base
    return known[min(known, key=lambda k: (abs(k - workers), k))]
