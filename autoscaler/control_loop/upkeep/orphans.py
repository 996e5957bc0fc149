"""Which processes belong to nobody? They are stopped; their GPUs are free only afterwards."""

from __future__ import annotations

from cluster.worker_host import ObservedProcess, ProcessPhase, Role

from autoscaler.control_loop.observe import WITH_WORKERS
from autoscaler.control_loop.shell import Shell
from jobs.models import Job, Worker


def remove_orphans(shell: Shell) -> int:
    """Stop or forget every process without a live record; returns how many were running."""
    processes = list(shell.processes.values())
    live_workers = set(
        Worker.objects.filter(pk__in=[p.labels.process_id for p in processes])
        .exclude(phase=Worker.Phase.GONE)
        .values_list("id", flat=True)
    )
    coordinated = set(
        Job.objects.filter(pk__in={p.labels.job_id for p in processes}, state__in=WITH_WORKERS)
        .exclude(mode=Job.Mode.RESTART)
        .values_list("id", flat=True)
    )
    orphans = [
        process for process in processes if not _has_record(process, live_workers, coordinated)
    ]
    for process in orphans:
        _remove(process, shell)
    return sum(process.phase is ProcessPhase.RUNNING for process in orphans)


def _has_record(process: ObservedProcess, live_workers: set[str], coordinated: set[str]) -> bool:
    if process.labels.role is Role.COORDINATOR:
        return process.labels.job_id in coordinated
    return process.labels.process_id in live_workers


def _remove(process: ObservedProcess, shell: Shell) -> None:
    process_id = process.labels.process_id
    if process.phase is ProcessPhase.EXITED:
        shell.processes.forget(process_id)
    else:
        shell.processes.stop(process_id, grace_seconds=shell.limits.kill_grace)
