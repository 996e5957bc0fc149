"""How does one job stand, as values that rules can be applied to?"""

from __future__ import annotations

from cluster.models import Node
from cluster.worker_host import Labels, ObservedProcess, ProcessPhase, ProcessRole

from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.claims import reclaim_seconds
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView
from autoscaler.control_loop.outside.process_table import ProcessTable
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.snapshot import (
    AssignmentSnapshot,
    Context,
    CoordinatorSnapshot,
    DiskUse,
    GenerationSnapshot,
    JobSnapshot,
    LimitsTold,
    Notices,
    RescaleMode,
    SignsOfLife,
    UsedUp,
)
from autoscaler.reconciling.worker_snapshot import (
    NodeSnapshot,
    WorkerSnapshot,
)
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.worker_phase import WorkerPhase


def snapshot_of(view: LiveJob, context: TickContext) -> JobSnapshot:
    """The job at this moment; no statement is made for it."""
    job = view.job
    return JobSnapshot(
        id=job.id,
        context=_context(job, context),
        state=view.state,
        state_since=view.state_since,
        spec=view.spec,
        version=job.version,
        mode=RescaleMode.HOT if view.is_hot else RescaleMode.RESTART,
        is_mode_known=job.mode == JobMode.HOT and view.generation is not None,
        forms_group=job.group_seen_at is not None,
        attempt=job.attempt,
        failures=job.failures,
        starts=job.starts,
        revision=job.revision,
        ends_as=JobState(job.ends_as) if job.ends_as else None,
        reason=job.reason,
        message=job.message,
        life=SignsOfLife(
            samples=job.samples,
            progress_at=job.progress_at,
            trained_at=job.trained_at,
            told_of_silence_at=job.silence_told_at,
            lost_at=job.lost_at,
            losses_in_a_row=job.losses_in_a_row,
        ),
        notices=Notices(
            preparation_revision=job.preparation_notice_revision,
            disk_start=job.disk_notice_start,
            idle_since=job.idle_notice,
            limits=LimitsTold(
                max_duration=job.max_duration_notice,
                budget_gpu_hours=job.budget_notice,
            ),
        ),
        disk=DiskUse(
            disk_bytes=job.disk_bytes,
            disk_files=job.disk_files,
            bytes_within=job.disk_bytes_within,
            has_closed_folder=job.has_closed_folder,
        ),
        used_up=UsedUp(gpu_seconds=job.gpu_seconds, held_seconds=job.held_seconds),
        idle_since=job.idle_since,
        assignment=_assignment(view),
        generation=_generation(view),
        workers=tuple(_worker(worker, view, context) for worker in view.workers),
        coordinator=_coordinator(view, context.processes),
    )


def node_snapshot(node: Node) -> NodeSnapshot:
    return NodeSnapshot(
        name=node.name, silent_since=node.silent_since, silent_reason=node.silent_reason
    )


def _context(job: Job, context: TickContext) -> Context:
    return Context(
        now=context.now,
        limits=context.limits,
        disk_limits=context.disk_limits,
        team_disk=context.team_disk(job.team_id),
        used_up_budget=context.used_up_budget(job.team_id),
        reclaim_seconds=reclaim_seconds(job.pool),
    )


def _assignment(view: LiveJob) -> AssignmentSnapshot | None:
    row = view.assignment
    if row is None:
        return None
    return AssignmentSnapshot(
        at=row.at,
        worker_ids=tuple(row.worker_ids),
        reason=row.reason,
        message=row.message,
        replaces=arrangement_of(row).replaces,
    )


def _generation(view: LiveJob) -> GenerationSnapshot | None:
    row = view.generation
    if row is None:
        return None
    return GenerationSnapshot(
        number=row.number,
        worker_ids=tuple(row.worker_ids),
        began_at=row.began_at,
        ended_at=row.ended_at,
    )


def _worker(view: WorkerView, job: LiveJob, context: TickContext) -> WorkerSnapshot:
    row = view.row
    return WorkerSnapshot(
        id=row.id,
        node=node_snapshot(row.node) if row.node else NodeSnapshot(name=row.node_name),
        created_at=row.created_at,
        phase=WorkerPhase(row.phase),
        gone_at=row.gone_at,
        exit_code=row.exit_code,
        failing=row.failing,
        error=row.error,
        counted_revision=row.counted_revision,
        silence_notice_at=row.silence_notice_at,
        is_given_up=row.is_given_up,
        is_straggler=row.is_straggler,
        process=view.process or _awaiting_data(view, job, context),
        is_being_started=context.processes.is_being_started(row.id),
    )


def _awaiting_data(view: WorkerView, job: LiveJob, context: TickContext) -> ObservedProcess | None:
    """A worker that is to start, and waits for data, is being prepared as by a host.

    Its fetch has a patience of its own, so this always began just now.
    """
    arrival = context.arriving.get(job.id)
    is_to_start = job.is_active and view.row.phase == WorkerPhase.STARTING
    if arrival is None or arrival.problem or not is_to_start or view.id not in job.wanted:
        return None
    if context.processes.is_being_started(view.id):
        return None
    return ObservedProcess(
        labels=Labels(
            process_id=view.id,
            job_id=job.id,
            role=ProcessRole.WORKER,
            attempt=job.job.attempt,
            fence=0,
        ),
        node=view.row.node_name,
        phase=ProcessPhase.PREPARING,
        started_at=context.now,
        note=arrival.note,
    )


def _coordinator(view: LiveJob, processes: ProcessTable) -> CoordinatorSnapshot:
    job = view.job
    return CoordinatorSnapshot(
        node=job.coordinator_node,
        port=job.coordinator_port,
        seen_at=job.coordinator_seen_at,
        restarts=job.coordinator_restarts,
        process=view.coordinator,
        is_being_started=processes.is_being_started(view.coordinator_id),
    )
