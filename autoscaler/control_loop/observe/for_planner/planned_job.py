"""How does the planner see one job? Its row, its spec and its workers, as a planning value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autoscaler.control_loop.observe.for_planner.change_times import ChangeTimes
from autoscaler.control_loop.observe.for_planner.job_terms import batch_range, terms
from autoscaler.control_loop.observe.for_planner.pool_view import all_reduce
from autoscaler.control_loop.observe.for_planner.scale_metrics import (
    Values,
    newest_values,
    reported,
    scale_on,
)
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.claims import is_slow_to_change
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.planning.fitting.earlier_run import fit_with_earlier
from autoscaler.planning.quarantine.standing_still import holder
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.job_terms import terms_of
from autoscaler.planning.snapshot.remaining_work import remaining_samples
from autoscaler.planning.speed.change_time import ChangingJob, expected_stall
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.reconciling.endings import AT_THE_END
from concertina_worker.protocol import MOST_MEASUREMENTS
from jobs.admission import earlier_runs
from jobs.admission.earlier_runs import EarlierMeasurement
from jobs.lifecycle import State
from jobs.models import GpuClaim, Measurement, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories:
    """What was measured of jobs so far, by job id."""

    measurements: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    changes: ChangeTimes = field(default_factory=ChangeTimes)
    values: Mapping[str, Values] = field(default_factory=dict)

    @classmethod
    def of(cls, views: Sequence[JobView]) -> Histories:
        """A few queries for all of them."""
        job_ids = [view.id for view in views]
        measurements: dict[str, list[Measurement]] = {}
        for row in Measurement.objects.filter(job__in=job_ids).order_by("id"):
            measurements.setdefault(row.job_id, []).append(row)
        newest = {job_id: rows[-MOST_MEASUREMENTS:] for job_id, rows in measurements.items()}
        return cls(
            measurements=newest,
            changes=ChangeTimes.of(job_ids) if job_ids else ChangeTimes(),
            values=newest_values(views),
        )


def planned_job(view: JobView, histories: Histories, now: datetime) -> planning.Job:
    """One job, its terms and what was observed of it; raises whatever its data make it raise."""
    job = view.job
    is_waiting = view.state is State.QUEUED
    is_fixed = view.spec.elastic.mode == "fixed"
    is_settled = _is_settled(view)
    scaling = _scaling(view, histories)
    return planning.Job(
        **terms_of(terms(view)),
        job_id=job.id,
        phase=planning.JobPhase.WAITING if is_waiting else planning.JobPhase.ACTIVE,
        allocation=None if is_waiting else _held(view),
        started_at=job.started_at.timestamp() if job.started_at else None,
        running_since=_running_since(view),
        waiting_since=view.state_since.timestamp() if is_waiting else None,
        last_rescaled_at=job.last_rescaled_at.timestamp() if job.last_rescaled_at else None,
        rescales=job.rescales,
        stall_seconds=_stall_seconds(view, histories),
        attained_gpu_seconds=job.gpu_seconds,
        remaining_samples=remaining_samples(view.job.total_samples, view.job.samples),
        model_bytes=job.model_bytes,
        can_rescale=is_waiting or (is_settled and not is_fixed and not view.is_plain),
        target=None if is_waiting or is_settled else _target(view),
        can_pause=(is_settled and (is_fixed or view.is_plain)) or is_slow_to_change(view, now),
        scaling=scaling,
        is_measurable=view.is_hot or scaling is not None,
        shares_work=not view.is_plain,
        noise_scale=job.noise_scale,
        scale_on=scale_on(view),
        reported=reported(histories.values.get(view.id, {})),
    )


def holder_of(view: JobView, now: datetime) -> planning.Job | None:
    """All that a plan has to know of a job that is left out: what it holds. None: nothing."""
    if view.state is State.QUEUED:
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
    )


def _target_or_none(view: JobView) -> planning.Allocation | None:
    """Return the target; None if nobody can read the assignment: the job keeps what it holds."""
    try:
        return _target(view)
    except (KeyError, TypeError, ValueError):
        return None


def _gpus_per_worker(view: JobView) -> int:
    """Return the number in its spec or, if that cannot be read, what its workers hold."""
    if not view.unreadable or not view.live:
        return view.spec.resources.gpus_per_worker
    claims = GpuClaim.objects.filter(worker__in=[worker.id for worker in view.live]).count()
    return max(round(claims / len(view.live)), 1)


def _places(nodes: Counter[str]) -> planning.Allocation:
    return planning.Allocation(workers_by_node=tuple(sorted(nodes.items())), global_batch_size=0)


def _scaling(view: JobView, histories: Histories) -> ScalingModel | None:
    """Fitted on the type of GPU the job's pool has; cached while nothing new was measured."""
    return fit_with_earlier(
        [_measurement(row) for row in histories.measurements.get(view.id, ())],
        [_measurement(one) for one in earlier_runs.measurements_of(view.job)],
        gpu_type=view.job.pool.gpu_type,
        model_bytes=view.job.model_bytes,
        batch=batch_range(view),
        all_reduce=all_reduce(view.job.pool),
    )


def _stall_seconds(view: JobView, histories: Histories) -> float:
    """How long it is expected to stand still when it changes."""
    nodes = {worker.node.name for worker in view.live}
    measured = histories.measurements.get(view.id) or earlier_runs.measurements_of(view.job)
    changing = ChangingJob(
        model_bytes=view.job.model_bytes,
        step_seconds=measured[-1].step_seconds if measured else None,
        is_hot=view.is_hot,
        crosses_nodes=len(nodes) > 1,
        all_reduce=all_reduce(view.job.pool),
    )
    changes = histories.changes
    return expected_stall(
        changing,
        measured=changes.own_seconds.get(view.id),
        ratio=changes.ratio(nodes, is_hot=view.is_hot, team_id=view.job.team_id),
    )


def _running_since(view: JobView) -> float | None:
    """Return when its present run began: workers are hardly ever replaced all at once."""
    began = [worker.row.created_at.timestamp() for worker in view.workers]
    return min(began) if began and view.is_active else None


def _is_settled(view: JobView) -> bool:
    """Trains, no change is under way, and nobody has run to the end yet."""
    is_ending = any(
        worker.ending in AT_THE_END or worker.row.phase == Worker.Phase.LEAVING
        for worker in view.members
    )
    return view.state is State.RUNNING and not view.leavers and not is_ending


def _held(view: JobView) -> planning.Allocation:
    """Workers that hold GPUs now; those of a restart that is between two sets keep their place."""
    nodes = Counter(worker.node.name for worker in view.live)
    return _allocation(nodes, view) if nodes else _target(view)


def _target(view: JobView) -> planning.Allocation:
    """Return what it will hold when the change under way is over."""
    if view.assignment is None or not view.is_active:
        return _allocation(Counter(), view)
    if view.is_between_sets:
        wanted = arrangement_of(view.assignment).seats
        return _allocation(Counter(seat.node for seat in wanted), view)
    live = [worker for worker in view.members if not worker.is_gone]
    return _allocation(Counter(worker.node.name for worker in live), view)


def _allocation(nodes: Counter[str], view: JobView) -> planning.Allocation:
    return planning.Allocation(
        workers_by_node=tuple(sorted(nodes.items())),
        global_batch_size=view.assignment.global_batch_size if view.assignment else 0,
    )


def _measurement(row: Measurement | EarlierMeasurement) -> planning.Measurement:
    return planning.Measurement(
        workers=row.workers,
        nodes=row.nodes,
        global_batch_size=row.global_batch_size,
        steps=row.steps,
        step_seconds=row.step_seconds,
        gpu_type=row.gpu_type,
    )
