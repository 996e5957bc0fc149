"""Which processes belong to nobody? They are stopped; their GPUs are free only afterwards."""

from __future__ import annotations

import logging

from cluster.worker_host import ObservedProcess, ProcessPhase
from django.db import DatabaseError, InterfaceError

from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.observe.jobs.names import coordinator_id
from autoscaler.control_loop.observe.jobs.versions import WITH_WORKERS
from autoscaler.control_loop.tick_context import TickContext
from jobs.models import Job, Worker
from jobs.worker_phase import WorkerPhase

_log = logging.getLogger(__name__)


def remove_orphans(context: TickContext) -> frozenset[str]:
    """Stop or forget each process without a live record; returns nodes where some still ran."""
    processes = list(context.processes.values())
    wanted = _workers_with_record() | _coordinators_with_record() if processes else set[str]()
    orphans = [process for process in processes if process.labels.process_id not in wanted]
    for process in orphans:
        _remove(process, context)
    return frozenset(p.node for p in orphans if p.phase is not ProcessPhase.EXITED)


def _workers_with_record() -> set[str]:
    """All that are not gone: to ask about each process that runs takes several times as long."""
    return set(Worker.objects.exclude(phase=WorkerPhase.GONE).values_list("id", flat=True))


def _coordinators_with_record() -> set[str]:
    """Return the newest of each job only: it has taken over from those of earlier terms."""
    jobs = Job.objects.filter(state__in=WITH_WORKERS)
    terms = jobs.values_list("id", "coordinator_term", "database_epoch")
    return {coordinator_id(job_id, term=term, epoch=epoch) for job_id, term, epoch in terms}


def _remove(process: ObservedProcess, context: TickContext) -> None:
    """The next tick tries again what its node, disk or record refuses."""
    process_id = process.labels.process_id
    try:
        if process.phase is ProcessPhase.EXITED:
            context.processes.forget(process_id)
        else:
            context.processes.stop(process_id, grace_seconds=context.limits.kill_grace)
    except (LeaseLost, DatabaseError, InterfaceError):
        raise
    except Exception as problem:  # noqa: BLE001 - whatever it is, the others go on
        extra = {"action": "remove", "node": process.node}
        _log.warning("%s cannot be removed: %r", process_id, problem, extra=extra)
