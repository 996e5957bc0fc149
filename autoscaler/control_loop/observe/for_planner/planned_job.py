"""How does the planner see one job? Its row, its spec and its workers, as a planning value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cluster.models import Pool

from autoscaler.control_loop.observe.for_planner.job_terms import batch_range, terms
from autoscaler.control_loop.observe.for_planner.pool_view import all_reduce
from autoscaler.control_loop.observe.for_planner.scale_metrics import (
    Values,
    reported,
    scale_on,
)
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.claims import is_slow_to_change
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.job_vocabulary import WAITING_OUTSIDE
from autoscaler.planning.fitting.earlier_run import fit_with_earlier
from autoscaler.planning.quarantine.standing_still import holder
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.job_terms import terms_of
from autoscaler.planning.snapshot.remaining_work import remaining_samples
from autoscaler.planning.speed.change_time import ChangingJob, expected_stall
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.reconciling.endings import AT_THE_END
from jobs.admission import earlier_runs
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.models import GpuClaim, Job
from jobs.worker_phase import WorkerPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMeasurements:
    """What was measured of one job so far; equal while nothing new was."""

    measurements: tuple[planning.StepTime, ...] = ()
    change_seconds: float | None = None  # its own changes, on average
    change_ratio: float | None = None  # how far first estimates were off on its nodes
    values: Values = field(default_factory=dict)


def planned_job(view: LiveJob, past: JobMeasurements, now: datetime) -> planning.PlannedJob:
    """One job, its terms and what was observed of it; raises whatever its data make it raise."""
    return as_measured(as_it_stands(view, now), view, past)


def as_it_stands(view: LiveJob, now: datetime) -> planning.PlannedJob:
    """All but what is measured and what moves with each report."""
    job = view.job
    is_waiting = view.state is JobState.QUEUED
    is_fixed = view.spec.elastic.mode is JobMode.FIXED
    is_settled = _is_settled(view)
    return planning.PlannedJob(
        **terms_of(terms(view)),
        job_id=job.id,
        phase=planning.JobPhase.WAITING if is_waiting else planning.JobPhase.ACTIVE,
        allocation=None if is_waiting else _held(view),
        started_at=job.started_at.timestamp() if job.started_at else None,
        running_since=_running_since(view),
        waiting_since=view.state_since.timestamp() if is_waiting else None,
        ready_at=_ready_at(job) if is_waiting else None,
        last_rescaled_at=job.last_rescaled_at.timestamp() if job.last_rescaled_at else None,
        rescales=job.rescales,
        model_bytes=job.model_bytes,
        can_rescale=is_waiting or (is_settled and not is_fixed and not view.is_plain),
        target=None if is_waiting or is_settled else _target(view),
        can_pause=(is_settled and (is_fixed or view.is_plain)) or is_slow_to_change(view, now),
        shares_work=not view.is_plain,
        scale_on=scale_on(view),
    )


def _ready_at(job: Job) -> float | None:
    """Return when what it waits for outside of its pool is there, as it was told last."""
    if job.reason not in WAITING_OUTSIDE:
        return None
    return math.inf if job.prepared_at is None else job.prepared_at.timestamp()


def as_measured(
    job: planning.PlannedJob, view: LiveJob, past: JobMeasurements
) -> planning.PlannedJob:
    """The job with what was measured of it."""
    scaling = _scaling(view, past, view.job.pool)
    return replace(
        job,
        **_moving(view),
        stall_seconds=_stall_seconds(view, past),
        scaling=scaling,
        is_measurable=view.is_hot or scaling is not None,
        reported=reported(past.values),
        other_pools=tuple(_elsewhere(view, past, pool) for pool in _to_choose_from(view)),
    )


def _to_choose_from(view: LiveJob) -> Sequence[Pool]:
    """Return none of a job that holds GPUs: it stays, and to fit its speeds takes time."""
    return view.other_pools if view.is_queued else ()


def _elsewhere(view: LiveJob, past: JobMeasurements, pool: Pool) -> planning.OtherPool:
    scaling = _scaling(view, past, pool)
    return planning.OtherPool(
        name=pool.name,
        batch=batch_range(view, pool),
        scaling=scaling,
        is_measurable=view.is_hot or scaling is not None,
    )


def as_moved(job: planning.PlannedJob, view: LiveJob) -> planning.PlannedJob:
    """The job with what moves with each report, where nothing new was measured."""
    moving = _moving(view)
    is_as_before = all(getattr(job, name) == value for name, value in moving.items())
    return job if is_as_before else replace(job, **moving)


def _moving(view: LiveJob) -> dict[str, Any]:
    return {
        "attained_gpu_seconds": view.job.gpu_seconds,
        "remaining_samples": remaining_samples(view.job.total_samples, view.job.samples),
        "noise_scale": view.job.noise_scale,
    }


def holder_of(view: LiveJob, now: datetime) -> planning.PlannedJob | None:
    """All that a plan has to know of a job that is left out: what it holds. None: nothing."""
    if view.state is JobState.QUEUED:
        return None
    held = Counter(worker.node.name for worker in view.live)
    target = None if _is_settled(view) else _target_or_none(view)
    return holder(
        job_id=view.id,
        name=view.job.name,
        team=view.job.team.name,
        pool=view.job.pool.name,
        priority=view.job.priority,
        preemptibility=view.spec.preemptibility,
        submitted_at=view.job.submitted_at.timestamp(),
        gpus_per_worker=_gpus_per_worker(view),
        held=_places(held) if held else target,
        target=target,
        can_pause=_is_settled(view) or is_slow_to_change(view, now),
        user=view.job.submitted_by,
    )


def _target_or_none(view: LiveJob) -> planning.Allocation | None:
    """Return the target; None if nobody can read the assignment: the job keeps what it holds."""
    try:
        return _target(view)
    except (KeyError, TypeError, ValueError):
        return None


def _gpus_per_worker(view: LiveJob) -> int:
    """Return the number in its spec or, if that cannot be read, what its workers hold."""
    if not view.unreadable or not view.live:
        return view.spec.resources.gpus_per_worker
    claims = GpuClaim.objects.filter(worker__in=[worker.id for worker in view.live]).count()
    return max(round(claims / len(view.live)), 1)


def _places(nodes: Counter[str]) -> planning.Allocation:
    return planning.Allocation(workers_by_node=tuple(sorted(nodes.items())), global_batch_size=0)


def _scaling(view: LiveJob, past: JobMeasurements, pool: Pool) -> ScalingModel | None:
    """Fitted on the type of GPU that the pool has; cached while nothing new was measured."""
    return fit_with_earlier(
        past.measurements,
        _earlier(view),
        gpu_type=pool.gpu_type,
        model_bytes=view.job.model_bytes,
        batch=batch_range(view, pool),
        all_reduce=all_reduce(pool),
    )


def _stall_seconds(view: LiveJob, past: JobMeasurements) -> float:
    """Return how long it will stand still, it seems, when it changes, and wait for data before."""
    measured = past.measurements or _earlier(view)
    changing = ChangingJob(
        model_bytes=view.job.model_bytes,
        step_seconds=measured[-1].step_seconds if measured else None,
        is_hot=view.is_hot,
        crosses_nodes=len(view.nodes) > 1,
        all_reduce=all_reduce(view.job.pool),
    )
    stall = expected_stall(changing, measured=past.change_seconds, ratio=past.change_ratio)
    return view.data_seconds + stall


def _running_since(view: LiveJob) -> float | None:
    """Return when its present run began: workers are hardly ever replaced all at once."""
    began = [worker.row.created_at.timestamp() for worker in view.workers]
    return min(began) if began and view.is_active else None


def _is_settled(view: LiveJob) -> bool:
    """Trains, no change is under way, and nobody has run to the end yet."""
    is_ending = any(
        worker.ending in AT_THE_END or worker.row.phase == WorkerPhase.LEAVING
        for worker in view.members
    )
    return view.state is JobState.RUNNING and not view.leavers and not is_ending


def _held(view: LiveJob) -> planning.Allocation:
    """Workers that hold GPUs now; those of a restart that is between two sets keep their place."""
    nodes = Counter(worker.node.name for worker in view.live)
    return _allocation(nodes, view) if nodes else _target(view)


def _target(view: LiveJob) -> planning.Allocation:
    """Return what it will hold when the change under way is over."""
    if view.assignment is None or not view.is_active:
        return _allocation(Counter(), view)
    if view.is_between_sets:
        wanted = arrangement_of(view.assignment).seats
        return _allocation(Counter(seat.node for seat in wanted), view)
    live = [worker for worker in view.members if not worker.is_gone]
    return _allocation(Counter(worker.node.name for worker in live), view)


def _allocation(nodes: Counter[str], view: LiveJob) -> planning.Allocation:
    return planning.Allocation(
        workers_by_node=tuple(sorted(nodes.items())),
        global_batch_size=view.assignment.global_batch_size if view.assignment else 0,
    )


def _earlier(view: LiveJob) -> Sequence[planning.StepTime]:
    return [planning.StepTime(**one._asdict()) for one in earlier_runs.measurements_of(view.job)]
