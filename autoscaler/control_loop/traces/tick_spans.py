"""How long did a tick take, and its parts? And which jobs did it plan anew?

A tick is a trace of its own, since it is about all jobs. In the trace of each job that it started
or changed stands the plan, with a link to the tick, which links back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tracing import sending
from tracing.spans import SpanPlace, TraceSpan, place_of

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from jobs.changes.state_spans import attributes_of
from jobs.models import Job

MOST_JOBS: Final = 100  # of one tick; OpenTelemetry keeps 128 links of a span
MOST_LAPS: Final = 16
_TICK: Final = "tick"
_PLAN: Final = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class TickLap:
    """A part of a tick, in seconds since it began."""

    part: str
    began: float
    ended: float


def tell(
    *,
    began_at: datetime,
    laps: Sequence[TickLap],
    views: Mapping[str, LiveJob],
    applied: Sequence[ExplainedDecision],
    has_alarm: bool,
) -> None:
    """Tell of a tick that changed something."""
    if not sending.is_on() or not laps:
        return
    tick = sending.begin(_TICK)
    planned = next((lap for lap in laps if lap.part == _PLAN), laps[-1])
    planned_within = (_at(began_at, planned.began), _at(began_at, planned.ended))
    of_jobs = [
        _plan(one, views[one.job_id].job, submission, planned_within, tick)
        for one in applied
        if (submission := place_of(views[one.job_id].job.trace)) is not None
    ][:MOST_JOBS]
    sending.send(*of_jobs)
    if tick is None:
        return
    actions = Counter(f"concertina.{one.action}" for one in applied)
    whole = TraceSpan(
        name=_TICK,
        place=tick,
        parent=None,
        began_at=began_at,
        ended_at=_at(began_at, laps[-1].ended),
        attributes={"concertina.live_jobs": len(views), **actions},
        links=tuple(one.place for one in of_jobs),
        error="alarm" if has_alarm else "",
    )
    sending.send(whole, *_parts(tick, began_at, laps))


def _parts(tick: SpanPlace, began_at: datetime, laps: Sequence[TickLap]) -> list[TraceSpan]:
    return [
        TraceSpan(
            name=lap.part,
            place=tick.beside(tick.span_id, number),
            parent=tick,
            began_at=_at(began_at, lap.began),
            ended_at=_at(began_at, lap.ended),
        )
        for number, lap in enumerate(laps[:MOST_LAPS])
    ]


def _plan(
    decision: ExplainedDecision,
    job: Job,
    submission: SpanPlace,
    within: tuple[datetime, datetime],
    tick: SpanPlace | None,
) -> TraceSpan:
    workers = decision.allocation.workers if decision.allocation else 0
    began_at, ended_at = within
    return TraceSpan(
        name=_PLAN,
        place=submission.beside(job.id, _PLAN, began_at.isoformat()),
        parent=submission,
        began_at=began_at,
        ended_at=ended_at,
        attributes=attributes_of(job)
        | {"concertina.action": str(decision.action), "concertina.reason": str(decision.reason)}
        | {"concertina.workers": workers},
        links=(tick,) if tick else (),
    )


def _at(began_at: datetime, seconds: float) -> datetime:
    return began_at + timedelta(seconds=seconds)
