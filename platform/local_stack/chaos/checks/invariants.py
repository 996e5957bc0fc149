"""What must hold whatever dies? Sentences about what does not, from plain values alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Final

from jobs.lifecycle import FINAL, JobState, is_legal
from local_stack.chaos.observation.facts import Facts, GenerationFact, JobFact
from local_stack.chaos.observation.processes import JobProcess
from local_stack.chaos.observation.sample_record import SampleRecord

GPU_SECONDS_APART: Final = 0.1  # rounding


def of_jobs(facts: Facts, *, submitted: Mapping[str, str], ended: Collection[str]) -> Iterator[str]:
    """Say which jobs were lost, doubled or mislabelled.

    Args:
        facts: what the database says.
        submitted: names of all jobs by their ids, as the service acknowledged them.
        ended: ids of those that were told to end their training.
    """
    found = Counter(job.name for job in facts.jobs)
    for job_id, name in submitted.items():
        if job_id not in {job.id for job in facts.jobs}:
            yield f"{name} ({job_id}) was accepted and is lost"
    for name, count in found.items():
        if count > 1 or name not in submitted.values():
            yield f"{name} exists {count} times, submitted once or never"
    for job in facts.jobs:
        yield from _of_label(job, may_end=job.id in ended)


def _of_label(job: JobFact, *, may_end: bool) -> Iterator[str]:
    if job.state in FINAL and job.state != JobState.COMPLETED:
        yield f"{job.name} is {job.state}: {job.reason}, {job.message}"
    if job.state == JobState.COMPLETED and not may_end:
        yield f"{job.name} is completed, but was not told to end"
    if job.failures:
        yield f"{job.name} has {job.failures} failures of its own code, which never fails"


def of_histories(facts: Facts) -> Iterator[str]:
    """Events and generations are contiguous."""
    for job in facts.jobs:
        yield from _of_events(job)
        yield from _of_generations(job)


def _of_events(job: JobFact) -> Iterator[str]:
    state = str(JobState.QUEUED)
    for event in job.state_changes:
        if event.old != state:
            yield f"{job.name}: an event leads from {event.old}, but it was {state}"
        if not is_legal(JobState(event.old), JobState(event.new)):
            yield f"{job.name}: it went from {event.old} to {event.new}"
        state = event.new
    if job.state != state:
        yield f"{job.name} is {job.state}, but its newest event says {state}"


def _of_generations(job: JobFact) -> Iterator[str]:
    known = {worker.id for worker in job.workers}
    for one in job.generations:
        if unknown := set(one.worker_ids) - known:
            yield f"{job.name}: generation {one.number} had {sorted(unknown)}, whom nobody started"
    for earlier, later in pairwise(job.generations):
        yield from _of_succession(job, earlier, later)


def _of_succession(job: JobFact, earlier: GenerationFact, later: GenerationFact) -> Iterator[str]:
    if later.attempt < earlier.attempt:
        yield f"{job.name}: generation {later.number} is of an earlier attempt than the one before"
    if earlier.is_open:
        yield f"{job.name}: generation {earlier.number} is open, and {later.number} began"


def of_gpus(facts: Facts) -> Iterator[str]:
    """Say which GPUs are booked twice, or by nobody."""
    booked = Counter((claim.node, claim.gpu_index) for claim in facts.claims)
    for (node, index), count in booked.items():
        if count > 1:
            yield f"GPU {index} of {node} is booked {count} times"
    living = {worker.id for job in facts.jobs for worker in job.workers if worker.lives}
    for claim in facts.claims:
        if claim.worker_id not in living:
            yield f"GPU {claim.gpu_index} of {claim.node} is booked by {claim.worker_id}, not alive"


def of_shared_gpus(processes: Collection[JobProcess]) -> Iterator[str]:
    """No two workers that run hold the same GPU."""
    holders: dict[str, set[str]] = {}
    for process in processes:
        for gpu in process.gpus:
            holders.setdefault(gpu, set()).add(process.worker_id)
    for gpu, workers in holders.items():
        if len(workers) > 1:
            yield f"GPU {gpu} is used by {' and '.join(sorted(workers))} at once"


def of_orphans(facts: Facts, processes: Collection[JobProcess]) -> Iterator[str]:
    """Every process of a job belongs to one that is on record and alive."""
    workers = {worker.id for job in facts.jobs for worker in job.workers if worker.lives}
    jobs = {job.id for job in facts.jobs if not job.is_final and job.state != JobState.PAUSED}
    for process in processes:
        if process.worker_id and process.worker_id not in workers:
            yield f"{process} runs, but no such worker is alive on record"
        elif process.job_id and process.job_id not in jobs:
            yield f"{process} runs, but its job has no process"


def of_gpu_time(facts: Facts) -> Iterator[str]:
    """Yield jobs that were charged other than their workers lived, each with one GPU."""
    for job in facts.jobs:
        lived = sum(
            (worker.gone_at - worker.created_at).total_seconds()
            for worker in job.workers
            if worker.gone_at is not None
        )
        if job.is_final and abs(lived - job.gpu_seconds) > GPU_SECONDS_APART:
            yield (
                f"{job.name} was charged {job.gpu_seconds:.1f} GPU-seconds, its workers had"
                f" {lived:.1f}"
            )


def _in_the_model(job: JobFact, record: SampleRecord) -> SampleRecord:
    """The samples in the model, without what the last generation gave up before its first step."""
    newest = job.generations[-1] if job.generations else None
    if newest is None or any(one.generation >= newest.number for one in record.steps):
        return record
    return SampleRecord(steps=frozenset(one for one in record.steps if one.step <= newest.step))


def of_samples(job: JobFact, record: SampleRecord, *, samples_per_epoch: int) -> Iterator[str]:
    """Every sample once, and as many as the job says when it has ended."""
    record = _in_the_model(job, record)
    for problem in record.problems(samples_per_epoch=samples_per_epoch):
        yield f"{job.name}: {problem}"
    if not job.is_final:
        return
    if record.samples() != job.samples or job.samples % samples_per_epoch:
        yield (
            f"{job.name} ended after {record.samples()} samples and says {job.samples}; an epoch"
            f" has {samples_per_epoch}"
        )
    if job.step != len(record.counted()):
        yield f"{job.name} ended after {len(record.counted())} steps and says {job.step}"
