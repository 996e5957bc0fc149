"""What does the planner see? The observed cluster as values of `autoscaler.planning`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from cluster.models import NodeChange
from cluster.nodes import node_changes
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from autoscaler.control_loop.observation_budget import ObservationBudget
from autoscaler.control_loop.observe.for_planner import growth
from autoscaler.control_loop.observe.for_planner.histories import Histories
from autoscaler.control_loop.observe.for_planner.planned import PlannedMemory
from autoscaler.control_loop.observe.for_planner.planned_job import holder_of, planned_job
from autoscaler.control_loop.observe.for_planner.pool_view import pools
from autoscaler.control_loop.observe.for_planner.slow_workers import with_straggler
from autoscaler.control_loop.observe.for_planner.team_quotas import team_quotas
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, has_only_waited
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.reconciling.assessments.idleness import is_to_shrink
from autoscaler.reconciling.endings import WorkerEnding, ending_of
from jobs.lifecycle import FINAL, JobState
from jobs.models import Job, Worker
from jobs.spec.stored_spec import SpecUnreadable

_NODE_CHANGES: Final[Mapping[str, planning.ChangeKind]] = {
    NodeChange.Kind.JOINED: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.UNCORDONED: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.ANSWERING: planning.ChangeKind.NODE_JOINED,
    NodeChange.Kind.DRAINING: planning.ChangeKind.NODE_LOST,
    NodeChange.Kind.LOST: planning.ChangeKind.NODE_LOST,
}
_RECENT_SECONDS: Final = 15.0  # a change explains plans for so long

_log = logging.getLogger(__name__)
_planned: Final = PlannedMemory()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCluster:
    """A snapshot, and the jobs that nobody could look into, each with the error it makes.

    They are in the snapshot as far as they hold GPUs: see `planning.standing_still`. So are those
    of which something is new for which there was no time.
    """

    state: planning.ClusterState
    failing: Mapping[str, Exception]
    put_off: frozenset[str] = frozenset()


def cluster_state(
    views: Iterable[LiveJob],
    now: datetime,
    *,
    left_out: Collection[str] = (),
    time: ObservationBudget | None = None,
) -> ObservedCluster:
    """The snapshot of a tick, from jobs that may be planned; those left out stand still in it."""
    plannable = [view for view in views if _is_plannable(view, now)]
    with_past = [view for view in plannable if not has_only_waited(view.job)]
    look = _PlannedJobs(
        now=now,
        histories=Histories.of([view for view in with_past if view.id not in left_out]),
        held_back=growth.held_back(now),
        time=time or ObservationBudget(),
    )
    jobs = {
        view.id: holder_of(view, now) if view.id in left_out else look.into(view)
        for view in sorted(plannable, key=_urgency)
    }
    _planned.forget_all_but(plannable)
    in_order = (jobs[view.id] for view in plannable)
    state = planning.ClusterState(
        now=now.timestamp(),
        pools=tuple(pools()),
        quotas=tuple(team_quotas()),
        jobs=tuple(job for job in in_order if job is not None),
        changes=tuple(_changes(plannable, now)),
    )
    return ObservedCluster(state=state, failing=look.failing, put_off=frozenset(look.put_off))


def _urgency(view: LiveJob) -> tuple[int, int, float]:
    """Who is looked into first, should there not be time for all?

    Those that wait, as they are planned; of the others those that were looked into longest ago, and
    of them the newest.
    """
    if view.is_queued:
        return -1, -view.job.priority, view.job.submitted_at.timestamp()
    return _planned.turn_of(view), 0, -view.job.submitted_at.timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedJobs:
    """Jobs as the planner sees them; what is wrong with one is blamed on it alone."""

    now: datetime
    histories: Histories
    held_back: Collection[str]
    time: ObservationBudget
    failing: dict[str, Exception] = field(default_factory=dict)
    put_off: set[str] = field(default_factory=set)

    def into(self, view: LiveJob) -> planning.PlannedJob | None:
        try:
            job = self._looked_into(view)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            extra = {"action": "observe", "job_id": view.id}
            _log.exception("A job cannot be looked into and is left out of plans.", extra=extra)
            self.failing[view.id] = error
            return holder_of(view, self.now)
        if job is None:
            self.put_off.add(view.id)
            held = holder_of(view, self.now)
            return held and replace(held, can_pause=False)  # it may shrink instead, once it is seen
        if is_to_shrink(view.job.idle_since, view.spec, self.now):
            return growth.with_fewest_workers(job)
        return growth.kept_from_growing(job) if view.id in self.held_back else job

    def _looked_into(self, view: LiveJob) -> planning.PlannedJob | None:
        """Return None if there is no time for it."""
        if view.unreadable:
            raise SpecUnreadable(view.unreadable)
        past = self.histories.of_job(view)
        job: planning.PlannedJob | None
        if self.time.is_up() and not _planned.is_known(view, past):
            job = _planned.as_seen_last(view)
        else:
            job = _planned.planned(view, past, self.now)
        return job and with_straggler(job, view, self.now)


def as_submitted(views: Iterable[LiveJob]) -> Iterator[tuple[LiveJob, planning.PlannedJob]]:
    """Jobs as they would come again: waiting, with all that was measured of them.

    Those that cannot be looked into are left out.
    """
    jobs = list(views)
    histories = Histories.of(jobs)
    for view in jobs:
        try:
            job = _of_the_past(view, histories)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, the others are of use
            extra = {"action": "observe", "job_id": view.id}
            _log.exception("A job of the past cannot be looked into.", extra=extra)
        else:
            yield view, _waiting(job)


def _of_the_past(view: LiveJob, histories: Histories) -> planning.PlannedJob:
    if view.unreadable:
        raise SpecUnreadable(view.unreadable)
    job = planned_job(view, histories.of_job(view), view.state_since)
    return with_straggler(job, view, view.state_since)


def _waiting(job: planning.PlannedJob) -> planning.PlannedJob:
    return replace(
        job,
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


def _is_plannable(view: LiveJob, now: datetime) -> bool:
    """A job in its back-off wants nothing yet; one that has stopped holds nothing more."""
    if view.state is JobState.QUEUED:
        return view.job.not_before is None or view.job.not_before <= now
    return view.is_active or (view.state is JobState.STOPPING and bool(view.live))


def _changes(views: Iterable[LiveJob], now: datetime) -> Iterable[planning.PoolChange]:
    """Yield recent changes, once each: of nodes, then workers, then jobs, each in order."""
    since = now - timedelta(seconds=_RECENT_SECONDS)
    of_jobs = [*_finished(since), *_changed_terms(views, since), *_idle(views, now)]
    return dict.fromkeys([*_changed_nodes(since), *_lost_workers(since), *of_jobs])


def _changed_nodes(since: datetime) -> Iterable[planning.PoolChange]:
    """Nodes that came or went; a cordoned one is still there for those who are on it."""
    for change in node_changes.since(since):
        if (kind := _NODE_CHANGES.get(change.kind)) is not None:
            yield planning.PoolChange(kind=kind, pool=change.pool, name=change.node)


def _lost_workers(since: datetime) -> Iterable[planning.PoolChange]:
    ended = Worker.objects.filter(counted_at__gt=since).order_by("counted_at", "id")
    for job_id, pool, team, exit_code, failing in ended.values_list(
        "job_id", "job__pool__name", "job__team__name", "exit_code", "failing"
    ):
        if ending_of(exit_code, failing) is WorkerEnding.LOST:
            kind = planning.ChangeKind.WORKER_LOST
            yield planning.PoolChange(kind=kind, pool=pool, name=job_id, team=team)


def _finished(since: datetime) -> Iterable[planning.PoolChange]:
    rows = ended_jobs(since).order_by("state_since", "id")
    for name, pool, team in rows.values_list("name", "pool__name", "team__name"):
        kind = planning.ChangeKind.JOB_FINISHED
        yield planning.PoolChange(kind=kind, pool=pool, name=name, team=team)


def _changed_terms(views: Iterable[LiveJob], since: datetime) -> Iterable[planning.PoolChange]:
    for view in views:
        if view.job.changed_at is not None and view.job.changed_at > since:
            kind, team = planning.ChangeKind.TERMS_CHANGED, view.job.team.name
            yield planning.PoolChange(kind=kind, pool=view.job.pool.name, name=view.id, team=team)


def _idle(views: Iterable[LiveJob], now: datetime) -> Iterable[planning.PoolChange]:
    for view in views:
        if not view.unreadable and is_to_shrink(view.job.idle_since, view.spec, now):
            kind, team = planning.ChangeKind.IDLE, view.job.team.name
            yield planning.PoolChange(kind=kind, pool=view.job.pool.name, name=view.id, team=team)


def ended_jobs(since: datetime) -> QuerySet[Job]:
    """Return those that have ended or been paused since then, however many ended before."""
    return Job.objects.filter(state__in=[*FINAL, JobState.PAUSED], state_since__gt=since)
