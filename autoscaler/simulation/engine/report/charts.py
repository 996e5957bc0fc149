"""Which pictures show how policies differ? Each is a function from a comparison to a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from autoscaler.plots import frame
from autoscaler.plots.axis import Axis
from autoscaler.plots.bar_chart import Bar, BarChart
from autoscaler.plots.frame import Picture
from autoscaler.plots.line_chart import LineChart, Series
from autoscaler.plots.strip_chart import Strip, StripChart
from autoscaler.plots.units import Unit
from autoscaler.simulation.engine.results import timeline

if TYPE_CHECKING:
    from autoscaler.simulation.engine.comparison.comparison import Comparison, Figure, Run

BINS: Final = 240  # more points than that no screen tells apart
STRIPS: Final = 60
_TIME: Final = Axis(label="time since the start", unit=Unit.SECONDS, lowest=0.0, ticks=8)


def gpus_in_use(comparison: Comparison) -> Picture:
    """GPUs held over time."""
    until = _until(comparison)

    def curve(run: Run) -> timeline.Curve:
        return timeline.mean_levels(
            run.result, lambda sample: sample.gpus_used, until=until, bins=BINS
        )

    return LineChart(
        description="GPUs in use over time",
        series=_series(comparison.runs, curve),
        x=_TIME,
        y=Axis(label="GPUs", lowest=0.0),
        limit=("all GPUs", float(comparison.gpus)),
        width=frame.WIDE,
    ).drawn()


def jobs_waiting(comparison: Comparison) -> Picture:
    """Jobs that had not started yet, over time."""
    until = _until(comparison)

    def curve(run: Run) -> timeline.Curve:
        started_at = run.result.started_at
        return timeline.queue_levels(run.result.jobs, started_at=started_at, until=until, bins=BINS)

    return LineChart(
        description="Jobs waiting for their first start, over time",
        series=_series(comparison.runs, curve),
        x=_TIME,
        y=Axis(label="jobs", lowest=0.0),
    ).drawn()


def completion_times(comparison: Comparison) -> Picture:
    """Show which share of the jobs had finished how long after their submission."""
    return LineChart(
        description="Share of all submitted jobs that finished within a time",
        series=_series(
            comparison.runs, lambda run: timeline.completion_curve(run.result.jobs, points=BINS)
        ),
        x=Axis(label="completion time", unit=Unit.SECONDS, is_logarithmic=True),
        y=Axis(label="jobs", unit=Unit.SHARE, lowest=0.0, highest=1.0),
    ).drawn()


def figure_by_policy(comparison: Comparison, figure: Figure) -> Picture:
    """One figure of the table as bars."""
    return BarChart(
        description=figure.meaning,
        bars=[
            Bar(name=run.label, value=figure.of(run.summary), slot=slot)
            for slot, run in enumerate(comparison.runs)
        ],
        unit=figure.unit,
    ).drawn()


def allocations(run: Run, *, slot: int) -> Picture | None:
    """Workers of the first jobs over time; None when no history was kept."""
    ended_at = run.result.ended_at
    jobs = [job for job in run.result.jobs if job.history][:STRIPS]
    if not jobs:
        return None
    strips = [
        Strip(
            name=job.name,
            came=job.submitted_at,
            ended=ended_at if job.finished_at is None else job.finished_at,
            stretches=timeline.spans(job, until=ended_at),
        )
        for job in jobs
    ]
    description = f"Workers of each job over time under {run.label}; darker: more"
    return StripChart(description=description, strips=strips, x=_TIME, slot=slot).drawn()


def _series(runs: Sequence[Run], curve: Callable[[Run], timeline.Curve]) -> list[Series]:
    return [Series(name=run.label, points=curve(run), slot=slot) for slot, run in enumerate(runs)]


def _until(comparison: Comparison) -> float:
    return max(run.result.ended_at for run in comparison.runs)
