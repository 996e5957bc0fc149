"""Has a worker had the time that it may take to register? Its time is time of the processor.

On a machine with many processes imports alone take minutes, so by the clock a worker is late there
whose script is all right.
"""

from __future__ import annotations

from typing import Final

from autoscaler.reconciling.questions import CoresOf
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot

BY_THE_CLOCK: Final = 10.0
"""So many times what a worker may have of the processor. Guessed: a machine on which a script gets
less than a tenth of a core helps nobody; trades GPUs held by one that hangs against such jobs."""
_DOES_NOTHING: Final = 0.01  # cores; guessed: below what each of fifty gets that want the same one


def is_late(worker: WorkerSnapshot, job: JobSnapshot) -> bool:
    """True by the clock alone: whoever is late may still come."""
    return waited_seconds(worker, job) > job.spec.elastic.registration_timeout


def has_had_its_time(worker: WorkerSnapshot, job: JobSnapshot) -> bool:
    """Late, and not because others took the processor from it.

    It has its time from the processor, as long as it does anything, and ten times as much by the
    clock. Where nobody can read what a worker takes, the clock alone counts.
    """
    patience, waited = job.spec.elastic.registration_timeout, waited_seconds(worker, job)
    if waited <= patience:
        return False
    if waited > patience * BY_THE_CLOCK:
        return True
    cores = job.answer_to(CoresOf(worker.id))
    if cores is None or cores.lately < _DOES_NOTHING:
        return True
    return cores.usually * waited >= patience


def longest_wait(job: JobSnapshot) -> float:
    """Return how many seconds a change may wait for workers that are to join."""
    trained = job.generation.worker_ids if job.generation else ()
    joins = any(name not in trained for name in job.wanted)
    return job.spec.elastic.registration_timeout * (BY_THE_CLOCK if joins else 1.0)


def waited_seconds(worker: WorkerSnapshot, job: JobSnapshot) -> float:
    """Return how long a worker has been waited for, in seconds; 0: nobody waits for it.

    Its time begins when it runs, and its coordinator does.
    """
    if worker.is_gone or worker.has_registered:
        return 0.0
    coordinator = job.coordinator.process
    if any(process in job.in_preparation for process in (worker.process, coordinator)):
        return 0.0
    processes = (worker.process, coordinator if job.is_starting_over else None)
    started = [process.started_at for process in processes if process]
    return job.seconds_since(max([worker.created_at, *started]))
