"""What would become of a job if it were submitted now? The planner is asked, with it and without.

Nothing is written. The work for one question is bounded: a process looks ahead for one sender at a
time, in a large cluster it only plans, and in a still larger one it says that it does not.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from cluster.models import Pool
from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.for_planner.planned_job import JobMeasurements, planned_job
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.explanations.audience import seen_by
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from autoscaler.predictions.live_jobs import horizon_seconds, span_of
from autoscaler.predictions.recent_past import past_until, rescale_cost
from autoscaler.simulation.engine.prediction.prediction import Effort, JobPrediction, predict
from jobs.commands import quarantine
from jobs.commands.quarantine import Part
from jobs.lifecycle import LIVE
from jobs.models import Job
from jobs.spec.job_spec import JobSpec

MOST_PLANNED: Final = 2_000  # live jobs; guessed: two plans of them take about two seconds
MOST_REPLAYED: Final = 200  # guessed: with the effort below another second
_EFFORT: Final = Effort(planned_jobs=3_000)
_one_at_a_time: Final = threading.Lock()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivesWay:
    """A job that would have fewer workers than without the new one; None: not for its reader."""

    job_id: str | None
    name: str | None
    team: str | None
    workers_without: int
    workers_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionOutlook:
    """What would become of the job. An empty `action`: nobody looked, and `message` says why."""

    action: str = ""
    message: str
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

    def gives_way(self, job: PlannedJob, without: int, with_it: int) -> GivesWay:
        is_named = self.is_admin or job.team == self.team
        return GivesWay(
            job_id=job.job_id if is_named else None,
            name=job.name if is_named else None,
            team=job.team if is_named or self.shows_others else None,
            workers_without=without,
            workers_with=with_it,
        )


def outlook_of(job: Job, spec: JobSpec, reader: OutlookReader, now: datetime) -> SubmissionOutlook:
    """Look ahead for a job that is not stored."""
    if Job.objects.filter(state__in=LIVE).count() > MOST_PLANNED:
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
    left_out = quarantine.left_out(Part.PLANNING, now)
    silent = left_out.job_ids | left_out.on_trial
    whole = cluster_state(observe.live_jobs({}), now, left_out=silent).state
    new = _planned(job, spec, now)
    ready = replace(whole, jobs=tuple(one for one in whole.jobs if one.ready_at is None))
    planner = partial(plan, policies=installed_policies())
    without, with_it = planner(ready), planner(_with(ready, new))
    decision = next(one for one in with_it.decisions if one.job_id == new.job_id)
    explanation = with_it.explanations[new.job_id]
    if not reader.is_admin:
        explanation = seen_by(explanation, team=reader.team, shows_others=reader.shows_others)
    allocation = decision.allocation
    predicted = _predicted(_with(whole, new), new, now)
    return SubmissionOutlook(
        action=decision.action,
        message=render(explanation),
        workers=allocation.workers if allocation else None,
        global_batch_size=allocation.global_batch_size if allocation else None,
        gives_way=_gives_way(ready, without, with_it, reader),
        start=_span(predicted and predicted.start) if decision.action is Action.WAIT else None,
        finish=_span(predicted and predicted.finish),
    )


def _planned(job: Job, spec: JobSpec, now: datetime) -> PlannedJob:
    job.pool = Pool.objects.get(pk=job.pool_id)
    job.submitted_at = now
    view = LiveJob(
        job=job, spec=spec, assignment=None, generation=None, workers=(), coordinator=None
    )
    return planned_job(view, JobMeasurements(), now)


def _with(state: ClusterState, new: PlannedJob) -> ClusterState:
    return replace(state, jobs=(*state.jobs, new))


def _gives_way(
    state: ClusterState, without: Plan, with_it: Plan, reader: OutlookReader
) -> tuple[GivesWay, ...]:
    before, after = _workers(without), _workers(with_it)
    pairs = ((job, before.get(job.job_id, 0), after.get(job.job_id, 0)) for job in state.jobs)
    return tuple(reader.gives_way(job, one, other) for job, one, other in pairs if other < one)


def _workers(planned: Plan) -> Mapping[str, int]:
    return {one.job_id: one.allocation.workers for one in planned.decisions if one.allocation}


def _predicted(state: ClusterState, new: PlannedJob, now: datetime) -> JobPrediction | None:
    """Return what a few replays say of the new job; None: too many jobs would be replayed."""
    if len(state.jobs) > MOST_REPLAYED:
        return None
    past = past_until(now)
    found = predict(
        state,
        past=past,
        rescale=rescale_cost(now),
        effort=replace(_EFFORT, horizon_seconds=horizon_seconds(state, past)),
        policies=installed_policies(),
    )
    return found.get(new.job_id)


def _span(found: Any) -> Mapping[str, datetime | None] | None:
    return None if found is None else span_of(found)
