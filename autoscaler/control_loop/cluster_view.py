"""What does the planner see? The observed cluster as values of `autoscaler.planning`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from cluster import node_changes
from cluster.models import NodeChange
from django.db.models import Avg, Q

from autoscaler.control_loop import growth, seats
from autoscaler.control_loop.endings import Ending
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.job_wishes import newest_values, with_wishes
from autoscaler.control_loop.pool_view import all_reduce, pools
from autoscaler.control_loop.slow_workers import with_straggler
from autoscaler.control_loop.team_quotas import team_quotas
from autoscaler.control_loop.upkeep.release import WORKER_LOST
from autoscaler.planning import cluster_state as planning
from autoscaler.planning.fitting import fit
from autoscaler.planning.remaining_work import remaining_samples
from autoscaler.planning.scaling import ScalingModel
from jobs import batch_limit, events
from jobs.lifecycle import FINAL, State
from jobs.models import Event, Generation, Measurement, Worker

_NODE_CHANGES: Final[Mapping[str, planning.ChangeKind]] = {
    NodeChange.Kind.JOINED: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.UNCORDONED: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.ANSWERING: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.DRAINING: planning.ChangeKind.NODE_LOST,
    NodeChange.Kind.LOST: planning.ChangeKind.NODE_LOST,
}
_RECENT_SECONDS: Final = 15.0  # a change explains plans for so long
_STALL_UNMEASURED: Final = {True: 0.5, False: 20.0}  # hot, restart; guessed until measured


def cluster_state(views: Iterable[JobView], now: datetime) -> planning.ClusterState:
    """The snapshot of a tick, from jobs that may be planned."""
    plannable = [view for view in views if _is_plannable(view, now)]
    histories = _Histories(plannable)
    held_back = growth.held_back([view.id for view in plannable], now)

    def seen(view: JobView) -> planning.Job:
        job = with_straggler(_job(view, histories), view, now)
        return growth.kept_from_growing(job) if view.id in held_back else job

    return planning.ClusterState(
        now=now.timestamp(),
        pools=tuple(pools()),
        quotas=tuple(team_quotas()),
        jobs=tuple(map(seen, plannable)),
        changes=tuple(_changes(now)),
    )


def as_submitted(views: Iterable[JobView]) -> tuple[planning.Job, ...]:
    """Jobs as they would come again: waiting, with all that was measured of them."""
    jobs = list(views)
    histories = _Histories(jobs)
    return tuple(
        replace(
            _job(view, histories),
            phase=planning.JobPhase.WAITING,
            allocation=None,
            target=None,
            can_rescale=True,
            can_pause=False,
            started_at=None,
            last_rescaled_at=None,
            rescales=0,
            attained_gpu_seconds=0.0,
            remaining_samples=None,
        )
        for view in jobs
    )


def _is_plannable(view: JobView, now: datetime) -> bool:
    """A job in its back-off wants nothing yet; one that has stopped holds nothing more."""
    if view.state is State.QUEUED:
        return view.job.not_before is None or view.job.not_before <= now
    return view.is_active or bool(view.live)


class _Histories:
    """What was measured of the jobs so far; two queries for all of them."""

    def __init__(self, views: Sequence[JobView]) -> None:
        job_ids = [view.id for view in views]
        self.measurements: dict[str, list[planning.Measurement]] = {}
        for row in Measurement.objects.filter(job__in=job_ids).order_by("id"):
            self.measurements.setdefault(row.job_id, []).append(_measurement(row))
        rescales = Generation.objects.filter(
            job__in=job_ids, stall_seconds__gt=0, lost_worker_ids=[]
        )
        stalls = rescales.values_list("job").annotate(Avg("stall_seconds")).order_by()
        self.stall_seconds: Mapping[str, float] = dict(stalls)
        self.values = newest_values(views)


def _job(view: JobView, histories: _Histories) -> planning.Job:
    return with_wishes(_observed(view, histories), view, histories.values.get(view.id, {}))


def _observed(view: JobView, histories: _Histories) -> planning.Job:
    job, spec = view.job, view.spec
    is_waiting = view.state is State.QUEUED
    is_fixed = spec.elastic.mode == "fixed"
    is_settled = _is_settled(view)
    stall = histories.stall_seconds.get(job.id, _STALL_UNMEASURED[view.is_hot])
    return planning.Job(
        job_id=job.id,
        name=job.name,
        team=job.team.name,
        pool=job.pool.name,
        phase=planning.JobPhase.WAITING if is_waiting else planning.JobPhase.ACTIVE,
        priority=job.priority,
        preemptibility=planning.Preemptibility(spec.preemptibility),
        submitted_at=job.submitted_at.timestamp(),
        min_workers=spec.elastic.min_workers,
        max_workers=spec.elastic.max_workers,
        allowed_workers=spec.elastic.listed_counts(),
        worker_step=spec.elastic.worker_step,
        gpus_per_worker=spec.resources.gpus_per_worker,
        batch=_batch(view),
        allocation=None if is_waiting else _held(view),
        started_at=job.started_at.timestamp() if job.started_at else None,
        running_since=_running_since(view),
        waiting_since=view.state_since.timestamp() if is_waiting else None,
        last_rescaled_at=job.last_rescaled_at.timestamp() if job.last_rescaled_at else None,
        min_interval_seconds=spec.elastic.min_interval,
        rescales=job.rescales,
        stall_seconds=stall,
        attained_gpu_seconds=job.gpu_seconds,
        remaining_samples=remaining_samples(view.job.total_samples, view.job.samples),
        model_bytes=job.model_bytes,
        can_rescale=is_waiting or (is_settled and not is_fixed),
        target=None if is_waiting or is_settled else _target(view),
        can_pause=is_settled and is_fixed,
        scaling=_scaling(view, histories),
        is_measurable=view.is_hot,
        noise_scale=job.noise_scale,
    )


def _batch(view: JobView) -> planning.BatchRange:
    bounds = view.spec.batch.bounds()
    return planning.BatchRange(
        base=bounds.base,
        minimum=bounds.minimum,
        maximum=bounds.maximum,
        multiple_of=bounds.multiple_of,
        max_per_gpu=batch_limit.of(view.job),
        accumulation=bounds.has_accumulation,
    )


def _scaling(view: JobView, histories: _Histories) -> ScalingModel | None:
    """Fitted on the type of GPU the job's pool has; cached while nothing new was measured."""
    return fit(
        histories.measurements.get(view.id, ()),
        gpu_type=view.job.pool.gpu_type,
        model_bytes=view.job.model_bytes,
        batch=_batch(view),
        all_reduce=all_reduce(view.job.pool),
    )


def _running_since(view: JobView) -> float | None:
    """When its present run began: its workers are replaced one by one, hardly ever all at once."""
    began = [worker.row.created_at.timestamp() for worker in view.workers]
    return min(began) if began and view.is_active else None


def _is_settled(view: JobView) -> bool:
    """Trains, no change is under way, and nobody has run to the end yet."""
    is_ending = any(
        worker.ending is Ending.COMPLETED or worker.row.phase == Worker.Phase.LEAVING
        for worker in view.members
    )
    return view.state is State.RUNNING and not view.leavers and not is_ending


def _held(view: JobView) -> planning.Allocation:
    """Workers that hold GPUs now; those of a restart that is between two sets keep their place."""
    nodes = Counter(worker.row.node.name for worker in view.live)
    return _allocation(nodes, view) if nodes else _target(view)


def _target(view: JobView) -> planning.Allocation:
    """What it will hold when the change under way is over."""
    if view.assignment is None or not view.is_active:
        return _allocation(Counter(), view)
    if view.is_between_sets:
        wanted = seats.from_document(view.assignment.decision["seats"])
        return _allocation(Counter(seat.node for seat in wanted), view)
    live = [worker for worker in view.members if not worker.is_gone]
    return _allocation(Counter(worker.row.node.name for worker in live), view)


def _allocation(nodes: Counter[str], view: JobView) -> planning.Allocation:
    return planning.Allocation(
        workers_by_node=tuple(sorted(nodes.items())),
        global_batch_size=view.assignment.global_batch_size if view.assignment else 0,
    )


def _measurement(row: Measurement) -> planning.Measurement:
    return planning.Measurement(
        workers=row.workers,
        nodes=row.nodes,
        global_batch_size=row.global_batch_size,
        steps=row.steps,
        step_seconds=row.step_seconds,
        gpu_type=row.gpu_type,
    )


def _changes(now: datetime) -> Iterable[planning.Change]:
    """What happened lately, once each, in order."""
    ended = Q(kind=events.STATE_CHANGED, new_state__in=[*FINAL, State.PAUSED])
    since = now - timedelta(seconds=_RECENT_SECONDS)
    recent = Event.objects.filter(ended | Q(kind=WORKER_LOST), at__gt=since)
    rows = recent.select_related("job__pool", "job__team").order_by("id")
    changes = (_change(event) for event in rows)
    return dict.fromkeys([*_changed_nodes(since), *changes])


def _changed_nodes(since: datetime) -> Iterable[planning.Change]:
    """Nodes that came or went; a cordoned one is still there for those who are on it."""
    for change in node_changes.since(since):
        if (kind := _NODE_CHANGES.get(change.kind)) is not None:
            yield planning.Change(kind=kind, pool=change.pool, name=change.node)


def _change(event: Event) -> planning.Change:
    is_loss = event.kind == WORKER_LOST
    return planning.Change(
        kind=planning.ChangeKind.WORKER_LOST if is_loss else planning.ChangeKind.JOB_FINISHED,
        pool=event.job.pool.name,
        name=event.job_id if is_loss else event.job.name,
        team=event.job.team.name,
    )
