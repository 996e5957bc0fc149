"""Why has a worker ended? People who had a shell beside it are told in words."""

from __future__ import annotations

from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from control_plane.shells.orders import ShellOrder
from jobs.lifecycle import FINAL, JobState
from jobs.models import Assignment, Job, Worker


def why_gone(order: ShellOrder) -> str:
    """Return what the rows say of it; empty: nothing, or the database does not answer."""
    close_old_connections()
    try:
        return _why(order)
    except (DatabaseError, InterfaceError):
        return ""
    finally:
        connection.close()


def _why(order: ShellOrder) -> str:
    """Return it: an end of the job first, then a change of its size, then what the worker did."""
    job = Job.objects.filter(pk=order.job_id).first()
    if job is None or job.state in {*FINAL, JobState.STOPPING, JobState.PAUSED}:
        return "" if job is None else f"The job is {job.state}."
    newest = Assignment.objects.filter(job=job, revision=job.revision).first()
    if newest is not None and order.worker not in newest.worker_ids:
        count = len(newest.worker_ids)
        size = f"{count} worker{'s' if count != 1 else ''}"
        said = f" {newest.message}" if newest.message else ""
        return f"The job was given {size} instead, without this one.{said}"
    worker = Worker.objects.filter(pk=order.worker).first()
    return worker.error if worker is not None else ""
