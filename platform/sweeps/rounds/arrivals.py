"""Who came to a rung since the last round, and with which value of the metric?

The value is the first that was logged there or later, so it does not matter when we look. A trial
that has logged none yet has not come there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.db import connection

from sweeps.models import SweepMark
from sweeps.search.halving import TrialFate
from sweeps.search.terms import SweepTerms
from sweeps.standings import COLUMN, TrialJob

_NEARLY: Final = 1e-6  # of a level: epochs are sums of fractions
_FIRST: Final = """
    SELECT job, rung, found.resource, found.value
    FROM unnest(%(jobs)s::text[], %(rungs)s::integer[], %(levels)s::float8[])
        AS asked(job, rung, level)
    CROSS JOIN LATERAL (
        SELECT resource, CASE WHEN jsonb_typeof(logged) = 'number'
            THEN (logged #>> '{{}}')::float8 END AS value
        FROM (
            SELECT at, {column}::float8 AS resource, "values" -> %(metric)s AS logged
            FROM jobs_metricpoint WHERE job_id = job AND {column} >= level AND "values" ? %(metric)s
            UNION ALL
            SELECT at, {column}::float8, "values" -> %(metric)s
            FROM jobs_metricrollup
            WHERE job_id = job AND {column} >= level AND "values" ? %(metric)s
        ) AS point ORDER BY resource, at LIMIT 1
    ) AS found
"""


def new_marks(sweep_id: str, trials: Sequence[TrialJob], wanted: SweepTerms) -> Sequence[SweepMark]:
    """Return the marks that are not stored yet, in one statement; in none if nobody is so far."""
    levels = wanted.asha.levels if wanted.asha else ()
    asked = [one for trial in trials for one in _open_rungs(trial, levels)]
    if not asked or wanted.asha is None:
        return ()
    numbers = {one.id: one.number for one in trials}
    with connection.cursor() as cursor:
        cursor.execute(
            _FIRST.format(column=COLUMN[wanted.asha.resource]),
            {
                "jobs": [job for job, _, _ in asked],
                "rungs": [rung for _, rung, _ in asked],
                "levels": [level * (1 - _NEARLY) for _, _, level in asked],
                "metric": wanted.metric.name,
            },
        )
        return [
            SweepMark(
                sweep_id=sweep_id,
                job_id=job,
                number=numbers[job],
                rung=rung,
                resource=resource,
                value=value,
            )
            for job, rung, resource, value in cursor.fetchall()
        ]


def _open_rungs(trial: TrialJob, levels: Sequence[float]) -> Iterator[tuple[str, int, float]]:
    """Yield the rungs that a trial is at or beyond, and has left no value at."""
    if not trial.has_value or trial.fate in {TrialFate.LOST, TrialFate.STOPPED}:
        return
    for rung, level in enumerate(levels):
        if rung not in trial.marks and trial.resource >= level * (1 - _NEARLY):
            yield trial.id, rung, level
