"""When will the jobs of this cluster start and finish, and what would start those that wait?

The snapshot is the one a tick plans with, without the processes: nothing here acts, and no tick
waits for it. What is predicted stands on the job; some of it is kept, to be held against what came
of it (`jobs.commands.predictions`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from statistics import fmean
from typing import Final

from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from autoscaler.predictions.advice import advise
from autoscaler.predictions.last_look import LastLook, likeness_of
from autoscaler.predictions.predictable import predict_what_can_be
from autoscaler.predictions.recent_past import past_until, rescale_cost
from autoscaler.predictions.track_record import TrackRecord, track_record
from autoscaler.simulation.engine.prediction.correction import Basis, basis_of, corrected
from autoscaler.simulation.engine.prediction.past import RecentPast
from autoscaler.simulation.engine.prediction.prediction import Effort, JobPrediction, predict
from autoscaler.simulation.engine.prediction.ranges import Range
from jobs.commands import predictions, quarantine
from jobs.commands.quarantine import Part
from jobs.models import Job

SHORTEST_HORIZON_SECONDS: Final = 600.0
LONGEST_HORIZON_SECONDS: Final = 7 * 86_400.0

_log = logging.getLogger(__name__)


def predict_live_jobs(
    now: datetime, *, effort: Effort | None = None, last_look: LastLook | None = None
) -> int:
    """Predict every live job, and score what was predicted before; returns how many were made.

    None where nothing has happened since the last look.
    """
    predictions.score()
    unplanned = quarantine.left_out(Part.PLANNING, now)
    tried = quarantine.left_out(Part.PREDICTION, now)
    silent = unplanned.job_ids | unplanned.on_trial | tried.job_ids
    seen = cluster_state(observe.live_jobs({}), now, left_out=silent)
    likeness = likeness_of(seen.state)
    if last_look is not None and last_look.saw(likeness):
        return 0
    policies = installed_policies()
    _advise(seen.state, planner=partial(plan, policies=policies), now=now)
    past = past_until(now)
    horizon = horizon_seconds(seen.state, past)
    predicted = predict_what_can_be(
        seen.state,
        predict=partial(
            predict,
            past=past,
            rescale=rescale_cost(now),
            effort=replace(effort or Effort(), horizon_seconds=horizon),
            policies=policies,
            seed=int(now.timestamp()),
        ),
        silent=silent | seen.failing.keys(),
    )
    known = {job.job_id: job for job in seen.state.jobs}
    record = track_record(now)
    newest = {
        job_id: _newest(one, known[job_id], record, seen.state.now)
        for job_id, one in predicted.predictions.items()
    }
    predictions.keep(newest, made_at=now)
    healed = tried.on_trial & predicted.predictions.keys()
    if predicted.failing or healed:
        quarantine.update(Part.PREDICTION, failing=predicted.failing, healed=healed, now=now)
    if last_look is not None:
        last_look.note(likeness)
    return len(predicted.predictions)


def _advise(state: ClusterState, *, planner: Callable[[ClusterState], Plan], now: datetime) -> None:
    """Advise on jobs; where the planner fails, not yet: the tick finds out for which job."""
    try:
        advise(state, planner=planner, now=now)
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - whatever it is, the others go on
        _log.exception("Nobody can be advised.", extra={"action": "advise"})


def horizon_seconds(state: ClusterState, past: RecentPast) -> float:
    """Twice as long as all the work would take that is there, if it were spread evenly."""
    usual = fmean([one.run_seconds for one in past.ended]) if past.ended else 0.0
    speeds = _speeds(state)
    seconds = [
        job.remaining_samples / speed
        if job.remaining_samples is not None and (speed := speeds.get(job.job_id))
        else usual
        for job in state.jobs
    ]
    gpus = sum(node.gpus for pool in state.pools for node in pool.nodes)
    smallest = [job.min_workers * job.gpus_per_worker for job in state.jobs]
    work = sum(one * size for one, size in zip(seconds, smallest, strict=True))
    waits = [job.ready_at - state.now for job in state.jobs if job.ready_at is not None]
    longest_wait = max([wait for wait in waits if wait < math.inf], default=0.0)
    wanted = 2 * (max(seconds, default=0.0) + work / max(gpus, 1)) + longest_wait
    return min(max(wanted, SHORTEST_HORIZON_SECONDS), LONGEST_HORIZON_SECONDS)


def _speeds(state: ClusterState) -> Mapping[str, float]:
    """Samples per second as reported last."""
    rows = Job.objects.filter(pk__in=[job.job_id for job in state.jobs])
    return dict(rows.values_list("pk", "samples_per_second"))


def _newest(
    replayed: JobPrediction, job: PlannedJob, record: TrackRecord, now: float
) -> predictions.NewestPrediction:
    basis = basis_of(job)
    lately = record.lately.get(basis)
    telling = _Correction(record=record, now=now, soonest=job.ready_at)
    return predictions.NewestPrediction(
        start=telling.span(replayed.start, Basis.START),
        finish=telling.span(replayed.finish, basis),
        lately=None if lately is None else asdict(lately),
        samples_left=job.remaining_samples,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Correction:
    """How what was looked ahead of one job is told, after what came of it lately."""

    record: TrackRecord
    now: float
    soonest: float | None  # before which no correction promises anything; None: there is no such

    def span(self, replayed: Range | None, basis: Basis) -> predictions.PredictedSpan | None:
        if replayed is None:
            return None
        span = corrected(replayed, self.record.corrections.get(basis), self.now)
        return predictions.PredictedSpan(
            span=span_of(self._no_sooner(span)), replayed=span_of(replayed), basis=basis
        )

    def _no_sooner(self, span: Range) -> Range:
        soonest = self.soonest
        if soonest is None:
            return span
        found = [value and max(value, soonest) for value in (span.p10, span.p50, span.p90)]
        return Range(p10=found[0], p50=found[1], p90=found[2])


def span_of(span: Range) -> dict[str, datetime | None]:
    """Return its percentiles as moments."""
    return {
        name: None if value is None else datetime.fromtimestamp(value, UTC)
        for name, value in (("p10", span.p10), ("p50", span.p50), ("p90", span.p90))
    }
