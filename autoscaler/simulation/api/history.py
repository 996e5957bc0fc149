"""What did this cluster see lately? The jobs tables as rows of the simulator's history importer."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from autoscaler.control_loop.observe.for_planner.cluster_view import as_submitted
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.job_terms import terms_of
from autoscaler.simulation.engine.workload.importers.history import HistoryRow, trace_of_history
from autoscaler.simulation.engine.workload.trace import Trace
from jobs.lifecycle import JobState
from jobs.models import Job

MOST_JOBS: Final = 20_000  # read at once; a request with more is refused


def trace(*, days: float) -> Trace:
    """All jobs submitted in the last days whose speed was measured, with the work they did.

    A job that has not completed counts with its declared work, else with what it has done so far.
    """
    since = timezone.now() - timedelta(days=days)
    lately = Job.objects.filter(submitted_at__gte=since).order_by("submitted_at", "id")
    views = observe.job_views(list(lately.values_list("id", flat=True)[:MOST_JOBS]), {})
    rows = (_row(view, job) for view, job in as_submitted(views))
    return trace_of_history(rows, name=f"the last {days:g} days")


def _row(view: LiveJob, job: planning.PlannedJob) -> HistoryRow:
    return HistoryRow(
        **terms_of(job),
        samples=_samples(view.job),
        declared_samples=view.job.total_samples,
        scaling=job.scaling,
        noise_scale=job.noise_scale,
        stall_seconds=job.stall_seconds,
        model_bytes=job.model_bytes,
    )


def _samples(job: Job) -> float:
    if job.state == JobState.COMPLETED or job.total_samples is None:
        return float(job.samples)
    return float(job.total_samples)
