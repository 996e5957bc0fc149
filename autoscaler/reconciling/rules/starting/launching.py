"""Which processes should run and do not? Started here, in the tick that decided or any later."""

from __future__ import annotations

from typing import Final

from cluster.worker_host import Failing, ObservedProcess, ProcessPhase

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.instructions import (
    NOTHING,
    BeginTerm,
    Instructions,
    StartCoordinator,
    StartWorkers,
    Tell,
    change_the_job,
)
from autoscaler.reconciling.questions import NodeNamed
from autoscaler.reconciling.rules.ending.stops import fail, start_again
from autoscaler.reconciling.rules.failures.release import write_off
from autoscaler.reconciling.snapshot import (
    JobSnapshot,
    RefusedProcesses,
)
from autoscaler.reconciling.words import silence_of
from autoscaler.reconciling.worker_snapshot import (
    NodeSnapshot,
    ids,
)
from concertina_worker.protocol import ExitCode
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase

_REFUSALS: Final = frozenset({Failing.IMAGE_UNAVAILABLE, Failing.CANNOT_START})
_AFTER_A_CLEAN_EXIT_SECONDS: Final = 5.0  # its workers are about to end as well


def start_missing(job: JobSnapshot) -> Instructions:
    """Start the coordinator, then every worker that is on record and has no process."""
    if job.refused is not None:
        return _go_on_without(job.refused, job)
    coordinator = _keep_coordinator(job)
    if change_the_job(coordinator):
        return coordinator
    begun = next((one.node for one in coordinator if isinstance(one, StartCoordinator)), None)
    return (*coordinator, *_start_workers(job, begun))


def _go_on_without(refused: RefusedProcesses, job: JobSnapshot) -> Instructions:
    if refused.workers and job.goes_on_without_newcomers:
        return write_off(job, refused.workers, reason=refused.reason, why=refused.why)
    is_by_host = refused.reason is JobReason.LAUNCH_REFUSED
    prefix = "The worker host refuses this job: " if is_by_host else ""
    return (fail(refused.reason, f"{prefix}{refused.why}"),)


def _start_workers(job: JobSnapshot, coordinator_node: str | None) -> Instructions:
    if not job.is_active or job.is_between_sets:
        return NOTHING
    missing = [
        worker
        for worker in job.members
        if worker.phase is WorkerPhase.STARTING and worker.is_missing and not worker.is_unheard
    ]
    if not missing:
        return NOTHING
    node = coordinator_node or _coordinator_node(job).name
    return (
        StartWorkers(tuple(ids(missing)), coordinator_node=node, is_first_set=job.is_starting_over),
    )


def _keep_coordinator(job: JobSnapshot) -> Instructions:
    """See that it runs while it has somebody to coordinate.

    One that died may know what it could not tell yet: it is needed until the job is at its end.
    One is kept even while the job is run as a plain script, for that may register yet.
    """
    process = job.coordinator.process
    has_somebody = bool(job.live) and (job.is_active or job.state is JobState.STOPPING)
    has_more_to_tell = job.state is JobState.STOPPING and process is not None
    if job.spec.elastic.mode is JobMode.RESTART or not (has_somebody or has_more_to_tell):
        return NOTHING
    if process is None:
        return _begin(job) if job.coordinator.is_missing else NOTHING
    if process.phase is not ProcessPhase.EXITED or _has_done_its_work(process, job):
        return NOTHING
    return _after_its_end(process, job)


def _after_its_end(process: ObservedProcess, job: JobSnapshot) -> Instructions:
    if process.exit_code == ExitCode.PORT_IN_USE and job.is_starting_over:
        why = f"Port {job.coordinator.port} of its coordinator is in use."
        return (start_again(job, reason=JobReason.PORT_IN_USE, why=why),)
    if process.failing in _REFUSALS and job.is_starting_over:
        # Workers cannot meet without a coordinator; waiting would hold their GPUs for nothing.
        message = (
            f"Its coordinator could not be started: {process.note}. It runs the platform's own"
            " image: ask an admin to repair it, then submit again."
        )
        return (fail(JobReason(str(process.failing)), message),)
    if job.seconds_since(process.ended_at) < _pause_seconds(process, job):
        return NOTHING
    tell = Tell(
        kind=EventKind.COORDINATOR_RESTARTED,
        message="The coordinator was started again; training went on without it.",
        data={"exit_code": process.exit_code},
    )
    return _take_over(_coordinator_node(job), tell)


def _has_done_its_work(process: ObservedProcess, job: JobSnapshot) -> bool:
    """It ended well, and nobody who is left trains: their scripts are about to end, or take long.

    One of an earlier release that was asked to end from outside ended just as well, and left
    workers that train.
    """
    if process.exit_code != ExitCode.COMPLETED:
        return False
    return job.state is JobState.STOPPING or all(
        worker.phase is WorkerPhase.LEAVING for worker in job.live
    )


def _begin(job: JobSnapshot) -> Instructions:
    """Nobody sees it: it is started, or moves to a node of its workers if its own is lost."""
    node = _coordinator_node(job)
    if node.silent_since is None:
        return (StartCoordinator(node.name),)
    heard = [worker.node for worker in job.live if worker.node.silent_since is None]
    if not heard or not job.counts_as_lost(node):
        return NOTHING
    tell = Tell(
        kind=EventKind.COORDINATOR_RESTARTED,
        reason=JobReason.NODE_LOST,
        message=f"Its coordinator moves to node {heard[0].name}: {silence_of(node)}.",
    )
    return _take_over(heard[0], tell)


def _take_over(node: NodeSnapshot, tell: Tell) -> Instructions:
    """Start another at once, however long its host takes to remove the old one, now an orphan."""
    return BeginTerm(node.name), tell, StartCoordinator(node.name)


def _pause_seconds(process: ObservedProcess, job: JobSnapshot) -> float:
    """Longer each time, for one that ends as soon as it is started."""
    if process.exit_code == ExitCode.COMPLETED:
        return _AFTER_A_CLEAN_EXIT_SECONDS
    return job.limits.between_restarts.seconds_after(job.coordinator.restarts)


def _coordinator_node(job: JobSnapshot) -> NodeSnapshot:
    """Return where it runs: the same node, whoever leaves, unless that is lost."""
    name = job.coordinator.node
    named = job.answer_to(NodeNamed(name)) if name else None
    if named is not None:
        return named
    oldest = min(job.live or job.workers, key=lambda worker: (worker.created_at, worker.id))
    return oldest.node
