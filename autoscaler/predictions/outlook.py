"""What would become of a job if it were submitted now? The planner is asked, with it and without.

Nothing is written. The work for one question is bounded: a process looks ahead for one sender at a
time, in a large cluster it only plans, and in a still larger one it says that it does not.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.observation_budget import OBSERVATION_SECONDS, ObservationBudget
from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.for_planner.planned_job import JobMeasurements, planned_job
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.cluster_records import ClusterRecords
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.explanations.audience import seen_by
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from autoscaler.planning.quarantine.standing_still import with_only
from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from autoscaler.predictions import outside_waits
from autoscaler.predictions.live_jobs import horizon_seconds, span_of
from autoscaler.predictions.recent_past import past_until, rescale_cost
from autoscaler.simulation.engine.prediction.prediction import Effort, JobPrediction, predict
from jobs.commands import quarantine
from jobs.commands.quarantine import Part
from jobs.lifecycle import LIVE, JobState
from jobs.models import Job
from jobs.spec.job_spec import JobSpec

MOST_PLANNED: Final = 2_000  # live jobs; guessed: two plans of them take about two seconds
MOST_REPLAYED: Final = 200  # guessed: with the effort below another second
_EFFORT: Final = Effort(planned_jobs=3_000)
_OBSERVED: Final = LIVE - {JobState.PAUSED}
_one_at_a_time: Final = threading.Lock()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivesWay:
    """A job that would have fewer workers than without the new one; None: not for its reader.

    Without a team it is all that are not for its reader, together.
    """

    job_id: str | None = None
    name: str | None = None
    team: str | None = None
    workers_without: int
    workers_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionOutlook:
    """What would become of the job. An empty `action`: nobody looked, and `message` says why."""

    action: str = ""
    message: str
    pool: str = ""  # in which it would start or wait; empty: nobody looked
    workers: int | None = None
    global_batch_size: int | None = None
    gives_way: tuple[GivesWay, ...] = ()
    start: Mapping[str, datetime | None] | None = None  # None: at once, or not known
    finish: Mapping[str, datetime | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlookReader:
    """Who asks, and may read what of others."""

    team: str
    shows_others: bool
    is_admin: bool = False

    def told(self, losing: Sequence[tuple[PlannedJob, int, int]]) -> tuple[GivesWay, ...]:
        """Return what it may read of jobs, each with its workers without the new one and with it.

        Where teams are shown nothing of each other, all jobs of others are one.
        """
        hidden = [one for one in losing if not (self.shows_others or self._may_name(one[0]))]
        told = [self._one(*one) for one in losing if self.shows_others or self._may_name(one[0])]
        if hidden:
            without = sum(before for _, before, _ in hidden)
            with_it = sum(after for _, _, after in hidden)
            told.append(GivesWay(workers_without=without, workers_with=with_it))
        return tuple(told)

    def _may_name(self, job: PlannedJob) -> bool:
        return self.is_admin or job.team == self.team

    def _one(self, job: PlannedJob, without: int, with_it: int) -> GivesWay:
        is_named = self._may_name(job)
        return GivesWay(
            job_id=job.job_id if is_named else None,
            name=job.name if is_named else None,
            team=job.team,
            workers_without=without,
            workers_with=with_it,
        )


def outlook_of(job: Job, spec: JobSpec, reader: OutlookReader, now: datetime) -> SubmissionOutlook:
    """Look ahead for a job that is not stored."""
    if Job.objects.filter(state__in=_OBSERVED).count() > MOST_PLANNED:
        return SubmissionOutlook(message="There are too many live jobs to look ahead at once.")
    if not _one_at_a_time.acquire(blocking=False):
        return SubmissionOutlook(message="Somebody else looks ahead at this moment. Ask again.")
    try:
        return _looked_ahead(job, spec, reader, now)
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - whatever it is, the spec is as valid as it was
        _log.exception("Nobody can look ahead.", extra={"action": "outlook"})
        return SubmissionOutlook(message="The planner cannot tell; admins are told why.")
    finally:
        _one_at_a_time.release()


def _looked_ahead(
    job: Job, spec: JobSpec, reader: OutlookReader, now: datetime
) -> SubmissionOutlook:
    if awaited := outside_waits.awaited_by(job):
        return SubmissionOutlook(action=Action.WAIT, message=awaited)
    around = ClusterRecords()
    view = _view(job, spec, now, around)
    views = observe.live_jobs({}, around)
    held = outside_waits.held_by_limits([*views, view], around, now)
    if view.id in held:
        return SubmissionOutlook(action=Action.WAIT, message=held[view.id])
    left_out = quarantine.left_out(Part.PLANNING, now)
    silent = left_out.job_ids | left_out.on_trial
    time = ObservationBudget(seconds=OBSERVATION_SECONDS)
    seen = cluster_state(views, now, left_out=silent, time=time)
    if seen.put_off:
        return SubmissionOutlook(message="Not all live jobs were looked into in time. Ask again.")
    new = planned_job(view, JobMeasurements(), now)
    return _as_planned(
        _TwoStates(
            without=_ready(seen.state, outside_waits.held_by_limits(views, around, now)),
            with_it=_with(_ready(seen.state, held), new),
            whole=_with(seen.state, new),
            new=new,
        ),
        reader,
        now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwoStates:
    """The cluster as it is planned without the new job and with it, and with all that wait."""

    without: ClusterState
    with_it: ClusterState
    whole: ClusterState
    new: PlannedJob


def _as_planned(states: _TwoStates, reader: OutlookReader, now: datetime) -> SubmissionOutlook:
    new = states.new
    planner = partial(plan, policies=installed_policies())
    without, with_it = planner(states.without), planner(states.with_it)
    decision = next(one for one in with_it.decisions if one.job_id == new.job_id)
    explanation = with_it.explanations[new.job_id]
    if not reader.is_admin:
        explanation = seen_by(explanation, team=reader.team, shows_others=reader.shows_others)
    allocation = decision.allocation
    predicted = _predicted(states.whole, new, now)
    return SubmissionOutlook(
        action=decision.action,
        message=render(explanation),
        pool=decision.pool or new.pool,
        workers=allocation.workers if allocation else None,
        global_batch_size=allocation.global_batch_size if allocation else None,
        gives_way=_gives_way(states.without, without, with_it, reader),
        start=_span(predicted and predicted.start) if decision.action is Action.WAIT else None,
        finish=_span(predicted and predicted.finish),
    )


def _view(job: Job, spec: JobSpec, now: datetime, around: ClusterRecords) -> LiveJob:
    job.pool = around.pools[job.pool_id]
    job.submitted_at = now
    return LiveJob(
        job=job,
        spec=spec,
        other_pools=around.other_pools(job, spec.pools or ()),
        assignment=None,
        generation=None,
        workers=(),
        coordinator=None,
    )


def _ready(state: ClusterState, held: Collection[str]) -> ClusterState:
    """Return what the planner sees of it."""
    ready = (job for job in state.jobs if job.ready_at is None and job.job_id not in held)
    return replace(state, jobs=tuple(ready))


def _with(state: ClusterState, new: PlannedJob) -> ClusterState:
    return replace(state, jobs=(*state.jobs, new))


def _gives_way(
    state: ClusterState, without: Plan, with_it: Plan, reader: OutlookReader
) -> tuple[GivesWay, ...]:
    before, after = _workers(without), _workers(with_it)
    pairs = ((job, before.get(job.job_id, 0), after.get(job.job_id, 0)) for job in state.jobs)
    return reader.told([(job, one, other) for job, one, other in pairs if other < one])


def _workers(planned: Plan) -> Mapping[str, int]:
    return {one.job_id: one.allocation.workers for one in planned.decisions if one.allocation}


def _predicted(state: ClusterState, new: PlannedJob, now: datetime) -> JobPrediction | None:
    """Return what a few replays say of the new job.

    None: too many jobs would be replayed, or one of them cannot be.
    """
    if len(state.jobs) > MOST_REPLAYED:
        return None
    tried = quarantine.left_out(Part.PREDICTION, now)
    silent = tried.job_ids | tried.on_trial
    state = with_only(state, frozenset(job.job_id for job in state.jobs) - silent)
    past = past_until(now)
    effort = replace(_EFFORT, horizon_seconds=horizon_seconds(state, past))
    rescale = rescale_cost(now)
    try:
        found = predict(
            state, past=past, rescale=rescale, effort=effort, policies=installed_policies()
        )
    except Exception:  # noqa: BLE001 - whatever it is, what is planned is known
        _log.exception("The future cannot be predicted.", extra={"action": "outlook"})
        return None
    return found.get(new.job_id)


def _span(found: Any) -> Mapping[str, datetime | None] | None:
    return None if found is None else span_of(found)
