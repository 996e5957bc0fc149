"""Does the database still say what must always hold? For tests, and for whoever has doubts."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, F, Q

from jobs.lifecycle import ACTIVE, WITHOUT_WORKERS, JobState
from jobs.models import Generation, GpuClaim, Job, Worker
from jobs.spec import stored_spec
from jobs.worker_phase import WorkerPhase


def contradictions() -> list[str]:
    """One sentence for everything that contradicts something else."""
    return [*_of_claims(), *_of_workers(), *_of_jobs(), *_of_generations()]


def _of_claims() -> Iterator[str]:
    for claim in GpuClaim.objects.filter(worker__phase=WorkerPhase.GONE):
        yield f"{claim} is claimed by a worker that is gone"
    for claim in GpuClaim.objects.filter(gpu_index__gte=F("node__gpus")):
        yield f"{claim} is claimed, but its node has fewer GPUs"
    for claim in GpuClaim.objects.exclude(worker__node=F("node")):
        yield f"{claim} is on another node than its worker"


def _of_workers() -> Iterator[str]:
    live = Worker.objects.exclude(phase=WorkerPhase.GONE).select_related("job")
    for worker in live:
        read, held = stored_spec.read(worker.job.resolved_spec), worker.claims.count()
        wanted = read.spec.resources.gpus_per_worker
        if read.unreadable:
            fields = ", ".join(name or "all of it" for name in read.unreadable)
            yield f"{worker} lives, but its job's spec cannot be read: {fields}"
        elif held != wanted:
            yield f"{worker} holds {held} GPUs instead of {wanted}"
        if worker.job.state in WITHOUT_WORKERS:
            yield f"{worker} lives, but its job is {worker.job.state}"
    for worker in Worker.objects.filter(phase=WorkerPhase.GONE, gone_at=None):
        yield f"{worker} is gone, nobody knows since when"


def _of_jobs() -> Iterator[str]:
    for job in Job.objects.filter(state__in=ACTIVE):
        newest = job.assignments.order_by("revision").last()
        if newest is None or newest.revision != job.revision:
            yield f"{job} is {job.state}, but its newest assignment is not of its revision"
        if job.coordinator_port is None:
            yield f"{job} is {job.state}, but its coordinator has no port"
    for job in Job.objects.filter(Q(state=JobState.STOPPING) ^ ~Q(ends_as="")):
        yield f"{job} is {job.state} and ends as {job.ends_as or 'nothing'}"
    for job in Job.objects.filter(Q(finished_at=None), state__in=_FINAL):
        yield f"{job} is {job.state}, nobody knows since when"


def _of_generations() -> Iterator[str]:
    for generation in Generation.objects.filter(ended_at=None, job__state__in=WITHOUT_WORKERS):
        yield f"{generation} is open, but its job is {generation.job.state}"
    open_ones = Job.objects.annotate(n=Count("generations", filter=Q(generations__ended_at=None)))
    for job in open_ones.filter(n__gt=1):
        yield f"{job} has {job.n} open generations"


_FINAL = (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)
