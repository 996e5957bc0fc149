"""Is something being made ready to run, an image fetched, say? The job says so, and may wait long.

Time spent on it counts against no limit but its own (`TimeLimits.preparation`), as it is not the
script's.
"""

from __future__ import annotations

from cluster.worker_host import ObservedProcess, ProcessRole

from autoscaler.job_vocabulary import EventKind
from autoscaler.reconciling.instructions import NOTHING, Instructions, RecordNotice, Say, Tell
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import listed, sentence_case


def tell_of_preparations(job: JobSnapshot) -> Instructions:
    """Tell of preparations in the job's message, and in an event when they begin."""
    if job.assignment is None:
        return NOTHING
    what = _what_is_prepared(job)
    message = what or job.assignment.message
    is_known = job.notices.preparation_revision == job.revision
    is_news = bool(what) and not is_known
    is_ours = message != job.message and (bool(what) or is_known)
    return (
        *(_beginning(job, what) if is_news else NOTHING),
        *((Say(message),) if is_ours else NOTHING),
    )


def _what_is_prepared(job: JobSnapshot) -> str:
    """The host's words for the first of them, and who else waits for the same."""
    processes = job.in_preparation
    if not processes:
        return ""
    note = next((process.note for process in processes if process.note), "being prepared")
    alike = [process for process in processes if process.note == note] or list(processes)
    return f"{listed([_name(process) for process in alike])}: {note}."


def _name(process: ObservedProcess) -> str:
    is_coordinator = process.labels.role is ProcessRole.COORDINATOR
    return "its coordinator" if is_coordinator else process.labels.process_id


def _beginning(job: JobSnapshot, what: str) -> Instructions:
    tell = Tell(
        kind=EventKind.PREPARING,
        message=sentence_case(what),
        data={
            "attempt": job.attempt,
            "revision": job.revision,
            "processes": [process.labels.process_id for process in job.in_preparation],
        },
    )
    return tell, RecordNotice(preparation_revision=job.revision)
