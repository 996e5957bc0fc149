"""What was measured of many jobs so far? A few statements for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db import connection

from autoscaler.control_loop.observe.for_planner.change_times import ChangeTimes
from autoscaler.control_loop.observe.for_planner.planned_job import JobMeasurements
from autoscaler.control_loop.observe.for_planner.scale_metrics import Values, newest_values
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.planning.snapshot import cluster_state as planning
from concertina_worker.protocol import MOST_MEASUREMENTS

_MEASUREMENTS: Final = """
    SELECT job_id, workers, nodes, global_batch_size, steps, step_seconds, gpu_type
    FROM jobs_measurement WHERE job_id = ANY(%s) ORDER BY id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories:
    """What was measured of jobs, by job id."""

    measurements: Mapping[str, Sequence[planning.StepTime]] = field(default_factory=dict)
    changes: ChangeTimes = field(default_factory=ChangeTimes)
    values: Mapping[str, Values] = field(default_factory=dict)

    @classmethod
    def of(cls, views: Sequence[LiveJob]) -> Histories:
        """Return those of these jobs."""
        if not views:
            return cls()
        job_ids = [view.id for view in views]
        return cls(
            measurements=_measurements(job_ids),
            changes=ChangeTimes.of(job_ids),
            values=newest_values(views),
        )

    def of_job(self, view: LiveJob) -> JobMeasurements:
        """Return what was measured of one of them; nothing of any other."""
        changes = self.changes
        return JobMeasurements(
            measurements=tuple(self.measurements.get(view.id, ())),
            change_seconds=changes.own_seconds.get(view.id),
            change_ratio=changes.ratio(view.nodes, is_hot=view.is_hot, team_id=view.job.team_id),
            values=self.values.get(view.id, {}),
        )


def _measurements(job_ids: Sequence[str]) -> Mapping[str, Sequence[planning.StepTime]]:
    """The newest of each job, in order."""
    found: dict[str, list[planning.StepTime]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_MEASUREMENTS, [list(job_ids)])
        for job_id, workers, nodes, batch, steps, seconds, gpu_type in cursor.fetchall():
            found.setdefault(job_id, []).append(
                planning.StepTime(
                    workers=workers,
                    nodes=nodes,
                    global_batch_size=batch,
                    steps=steps,
                    step_seconds=seconds,
                    gpu_type=gpu_type,
                )
            )
    return {job_id: rows[-MOST_MEASUREMENTS:] for job_id, rows in found.items()}
