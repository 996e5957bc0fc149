"""How are reported generations stored? In four statements, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Subquery

from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import GenerationCause
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.service_time import ServiceTime
from jobs.lifecycle import WITHOUT_WORKERS
from jobs.models import Assignment, Generation
from jobs.reports.sync_report import GenerationEntry

MOST_KEPT: Final = 2000  # of one job; guessed: one every five minutes for a week
_NONE_YET: Final = 0  # the revision of a generation that is none the service asked for


def store_generations(
    job: ReportingJob,
    reported: Sequence[GenerationEntry],
    events: ReportedEvents,
    time: ServiceTime,
) -> dict[str, Any]:
    """Add the generations not known yet, each ending the one before.

    Returns the changed columns of the job; none if no generation was new. A generation of a
    revision that nobody asked for is left out.
    """
    if not reported:
        return {}
    last = Generation.objects.filter(job=job.id).order_by("-number").first()
    known = last.number if last else 0
    fresh = {entry.number: entry for entry in reported if entry.number > known}
    revisions = {entry.revision for entry in fresh.values()}
    wanted = {
        one.revision: one for one in Assignment.objects.filter(job=job.id, revision__in=revisions)
    }
    made, rescales = [], 0
    for _, entry in sorted(fresh.items()):
        if entry.revision != _NONE_YET and entry.revision not in wanted:
            continue
        one = _generation(job, entry, wanted.get(entry.revision), time, before=last)
        if last is not None:
            rescales += last.ended_at is None and _is_rescale(last, one)
            last.ended_at = last.ended_at or one.began_at
        last = one
        made.append(one)
        _tell(one, entry, events)
    return _write(job, made, rescales=rescales) if made else {}


def _generation(
    job: ReportingJob,
    entry: GenerationEntry,
    wanted: Assignment | None,
    time: ServiceTime,
    *,
    before: Generation | None,
) -> Generation:
    reason, message = _why(entry, wanted)
    since = before.began_at if before else time.earliest
    began_at = max(time.moment(entry.began_at), since)
    return Generation(
        job_id=job.id,
        number=entry.number,
        attempt=wanted.attempt if wanted else job.attempt,
        revision=entry.revision,
        workers=len(entry.workers),
        worker_ids=entry.workers,
        global_batch_size=entry.global_batch_size,
        reason=reason,
        message=message,
        began_at=began_at,
        recorded_at=time.now,
        ended_at=began_at if job.state in WITHOUT_WORKERS else None,  # a late report
        step=entry.step,
        stall_seconds=time.seconds(entry.stall_seconds, since=since),
        transfer_seconds=time.seconds(entry.transfer_seconds),
        lost_steps=entry.lost_steps,
        lost_work_seconds=time.seconds(entry.lost_work_seconds),
        lost_worker_ids=entry.lost_workers,
    )


def _write(job: ReportingJob, made: list[Generation], *, rescales: int) -> dict[str, Any]:
    newest, oldest = made[-1], made[0]
    Generation.objects.filter(job=job.id, ended_at=None).update(ended_at=oldest.began_at)
    Generation.objects.bulk_create(made)
    beyond = Generation.objects.filter(job=job.id).order_by("-number").values("number")
    first_beyond = Subquery(beyond[MOST_KEPT : MOST_KEPT + 1])
    Generation.objects.filter(job=job.id, number__lte=first_beyond).delete()
    rescaled = {"last_rescaled_at": newest.began_at, "rescales": job.rescales + rescales}
    return {"generation": newest.number, **(rescaled if rescales else {})}


def _is_rescale(last: Generation, made: Generation) -> bool:
    """False if the same workers of the same assignment have only met again, or late."""
    is_same = (last.revision, last.worker_ids) == (made.revision, made.worker_ids)
    return last.attempt == made.attempt and not is_same


def cost_of(generation: Generation) -> dict[str, Any]:
    """Say what it cost to get into a generation, for the event about it."""
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
        return JobReason.NODE_LOST, f"{lost} was lost; {stayed} went on after {seconds:.2f} s."
    return (wanted.reason, wanted.message) if wanted else ("", "")


def _tell(made: Generation, entry: GenerationEntry, events: ReportedEvents) -> None:
    if entry.cause == GenerationCause.WORKER_LOST:
        events.add(
            EventKind.WORKERS_LOST,
            reason=JobReason.NODE_LOST,
            message=made.message,
            data={"workers": made.lost_worker_ids, **cost_of(made)},
        )
    if made.lost_steps:
        steps, seconds = made.lost_steps, made.lost_work_seconds
        events.add(
            EventKind.WORK_LOST,
            message=(
                f"Goes on from the checkpoint of step {made.step}: {steps} newer"
                f" step{'s' if steps != 1 else ''}, {seconds:.1f} s of work, are made again."
            ),
            data=cost_of(made),
        )
