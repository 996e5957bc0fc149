"""How are a coordinator's observations stored? Each kind in one or two statements, idempotently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import F

from concertina_worker.protocol import GenerationCause
from jobs import events
from jobs.lifecycle import WITHOUT_WORKERS
from jobs.models import Assignment, Generation, Job, Measurement, MetricPoint, Worker
from jobs.sync_report import GenerationEntry, MeasurementEntry, MetricEntry


def store_generations(job: Job, reported: Sequence[GenerationEntry]) -> bool:
    """Add the generations not known yet, ending the one before each; tell whether any was new."""
    if not reported:
        return False
    last = Generation.objects.filter(job=job).order_by("-number").first()
    known = last.number if last else 0
    fresh = {entry.number: entry for entry in reported if entry.number > known}
    for _, entry in sorted(fresh.items()):
        last = _add_generation(job, entry, last)
    return bool(fresh)


def _add_generation(job: Job, entry: GenerationEntry, last: Generation | None) -> Generation:
    wanted = Assignment.objects.filter(job=job, revision=entry.revision).first()
    reason, message = _why(entry, wanted)
    made = Generation.objects.create(
        job=job,
        number=entry.number,
        attempt=wanted.attempt if wanted else job.attempt,
        revision=entry.revision,
        workers=len(entry.workers),
        worker_ids=entry.workers,
        global_batch_size=entry.global_batch_size,
        reason=reason,
        message=message,
        began_at=entry.began_at,
        ended_at=entry.began_at if job.state in WITHOUT_WORKERS else None,  # a late report
        step=entry.step,
        stall_seconds=entry.stall_seconds,
        transfer_seconds=entry.transfer_seconds,
        lost_steps=entry.lost_steps,
        lost_work_seconds=entry.lost_work_seconds,
        lost_worker_ids=entry.lost_workers,
    )
    Generation.objects.filter(job=job, number__lt=made.number, ended_at=None).update(
        ended_at=entry.began_at
    )
    is_rescale = last is not None and last.ended_at is None and _is_rescale(last, made)
    changes = {"last_rescaled_at": entry.began_at, "rescales": F("rescales") + 1}
    Job.objects.filter(pk=job.id).update(generation=made.number, **(changes if is_rescale else {}))
    if entry.cause == GenerationCause.WORKER_LOST:
        _record_loss(made)
    if entry.lost_steps:
        _record_lost_work(made)
    return made


def _is_rescale(last: Generation, made: Generation) -> bool:
    """The same workers by the same assignment have only met anew, or late."""
    is_same = (last.revision, last.worker_ids) == (made.revision, made.worker_ids)
    return last.attempt == made.attempt and not is_same


def cost_of(generation: Generation) -> dict[str, Any]:
    """What it cost to get into a generation, for the event that tells of it."""
    return {
        "generation": generation.number,
        "stall_seconds": generation.stall_seconds,
        "transfer_seconds": generation.transfer_seconds,
        "lost_steps": generation.lost_steps,
        "lost_work_seconds": generation.lost_work_seconds,
    }


def _why(entry: GenerationEntry, wanted: Assignment | None) -> tuple[str, str]:
    if entry.cause == GenerationCause.WORKER_LOST:
        lost = ", ".join(entry.lost_workers) or "A worker"
        stayed, seconds = len(entry.workers), entry.stall_seconds
        return "node_lost", f"{lost} was lost; {stayed} went on after {seconds:.2f} s."
    return (wanted.reason, wanted.message) if wanted else ("", "")


def _record_loss(generation: Generation) -> None:
    events.record(
        job_id=generation.job_id,
        kind=events.WORKERS_LOST,
        reason="node_lost",
        message=generation.message,
        data={"workers": generation.lost_worker_ids, **cost_of(generation)},
    )


def _record_lost_work(generation: Generation) -> None:
    steps, seconds = generation.lost_steps, generation.lost_work_seconds
    events.record(
        job_id=generation.job_id,
        kind=events.WORK_LOST,
        message=(
            f"Goes on from the checkpoint of step {generation.step}: {steps} newer"
            f" step{'s' if steps != 1 else ''}, {seconds:.1f} s of work, are made again."
        ),
        data=cost_of(generation),
    )


def store_metrics(job: Job, reported: Sequence[MetricEntry]) -> None:
    """Add the points; one reported again for the same step has learned more values since."""
    newest = {(entry.generation, entry.step): entry for entry in reported}
    MetricPoint.objects.bulk_create(
        [MetricPoint(job=job, **dict(entry)) for entry in newest.values()],
        batch_size=1000,
        update_conflicts=True,
        unique_fields=["job", "generation", "step"],
        update_fields=["at", "values"],
    )


def store_measurements(job: Job, reported: Sequence[MeasurementEntry]) -> None:
    """Replace what was measured at each configuration by what is known of it now."""
    if not reported:
        return
    nodes = _NodesOfConfigurations(job)
    rows = {
        (entry.workers, nodes.count(entry), entry.global_batch_size): entry for entry in reported
    }
    Measurement.objects.bulk_create(
        [
            Measurement(
                job=job,
                gpu_type=job.pool.gpu_type,
                workers=workers,
                nodes=nodes_used,
                global_batch_size=batch,
                steps=entry.steps,
                step_seconds=entry.step_seconds,
            )
            for (workers, nodes_used, batch), entry in rows.items()
        ],
        update_conflicts=True,
        unique_fields=["job", "gpu_type", "workers", "nodes", "global_batch_size"],
        update_fields=["steps", "step_seconds", "updated_at"],
    )


class _NodesOfConfigurations:
    """On how many nodes did the job train with so many workers and this batch, last time?"""

    def __init__(self, job: Job) -> None:
        self._node_by_worker = dict(Worker.objects.filter(job=job).values_list("id", "node_id"))
        generations = Generation.objects.filter(job=job).order_by("number")
        self._workers_by_configuration = {
            (workers, batch): ids
            for workers, batch, ids in generations.values_list(
                "workers", "global_batch_size", "worker_ids"
            )
        }

    def count(self, entry: MeasurementEntry) -> int:
        ids = self._workers_by_configuration.get((entry.workers, entry.global_batch_size), ())
        return max(
            1, len({self._node_by_worker[one] for one in ids if one in self._node_by_worker})
        )
