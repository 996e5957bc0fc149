"""Is something being made ready to run, an image fetched, say? The job says so, and may wait long.

Time spent on it counts against no limit but its own (`Limits.preparation`): it is not the script's.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from cluster.worker_host import ObservedProcess, Role

from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.names import listed
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import EventKind
from jobs import events
from jobs.lifecycle import State
from jobs.models import Event, Job

CHANGING: Final = frozenset({State.STARTING, State.RESCALING})


def tell_of_preparations(view: JobView, shell: Shell) -> bool:
    """How far it is, as the job's message; an event when it begins. Afterwards the old message."""
    if view.state not in CHANGING or view.assignment is None:
        return False
    told = _told(view)
    if told and not _is_known(view):
        _note_beginning(view, told, shell)
    message = told or view.assignment.message
    is_ours = told or _is_known(view)
    if is_ours and message != view.job.message:
        with shell.changing(view.id):
            Job.objects.filter(pk=view.id, state=view.state).update(message=message)
    return False


def seconds_since_ready(view: JobView, moment: datetime, shell: Shell) -> float:
    """Since this moment, or since all that is wanted began to run, if that was later."""
    if view.in_preparation:
        return 0.0
    started = [worker.process.started_at for worker in view.members if worker.process]
    return shell.seconds_since(max([moment, *started]))


def endless(view: JobView, shell: Shell) -> tuple[ObservedProcess, ...]:
    """What has been in preparation for so long that nothing will come of it."""
    most = shell.limits.preparation
    return tuple(p for p in view.in_preparation if shell.seconds_since(p.started_at) > most)


def _told(view: JobView) -> str:
    """The host's words for the first of them, and who else waits for the same."""
    processes = view.in_preparation
    if not processes:
        return ""
    note = next((process.note for process in processes if process.note), "being prepared")
    alike = [process for process in processes if process.note == note] or list(processes)
    return f"{listed([_name(process) for process in alike])}: {note}."


def _name(process: ObservedProcess) -> str:
    is_coordinator = process.labels.role is Role.COORDINATOR
    return "its coordinator" if is_coordinator else process.labels.process_id


def _is_known(view: JobView) -> bool:
    of_revision = {"attempt": view.job.attempt, "revision": view.job.revision}
    known = Event.objects.filter(job_id=view.id, kind=EventKind.PREPARING)
    return known.filter(data__contains=of_revision).exists()


def _note_beginning(view: JobView, told: str, shell: Shell) -> None:
    with shell.changing(view.id):
        events.record(
            job_id=view.id,
            kind=EventKind.PREPARING,
            message=f"{told[0].upper()}{told[1:]}",
            data={
                "attempt": view.job.attempt,
                "revision": view.job.revision,
                "processes": [process.labels.process_id for process in view.in_preparation],
            },
        )
