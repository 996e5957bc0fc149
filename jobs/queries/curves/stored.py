"""Which points of a job are there? Of each time the finest that are wide enough and kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from jobs.models import Job
from jobs.models.metric_point import RAW_FOR, TIERS, Tier

_COLUMNS: Final = (
    "generation, at, step, epoch, samples, samples_per_second, step_seconds, compute_seconds,"
    ' communication_seconds, learning_rate, "values"'
)
# What comes before a SELECT from `every`, with what `parameters` returns.
EVERY: Final = f"""WITH rolled_up AS (
        SELECT {_COLUMNS} FROM jobs_metricrollup known
        JOIN unnest(
            %(widths)s::integer[], %(since)s::timestamptz[], %(until)s::timestamptz[]
        ) AS tier(tier_width, since, until)
            ON known.width = tier.tier_width AND bucket >= tier.since AND bucket < tier.until
        WHERE job_id = %(job)s
    ),
    raw AS (
        SELECT DISTINCT ON (
            generation, CASE WHEN %(width)s = 0 THEN step
                ELSE floor(extract(epoch FROM at) / nullif(%(width)s, 0)) END
        ) {_COLUMNS}
        FROM jobs_metricpoint WHERE job_id = %(job)s
        ORDER BY generation, CASE WHEN %(width)s = 0 THEN step
            ELSE floor(extract(epoch FROM at) / nullif(%(width)s, 0)) END, step DESC
    ),
    every AS (
        SELECT * FROM (SELECT * FROM rolled_up UNION ALL SELECT * FROM raw) kept
        WHERE at >= %(from)s AND at <= %(to)s
    )"""  # noqa: S608 - names of columns
_EVER: Final = datetime.fromtimestamp(0, tz=UTC)


def parameters(
    job: Job, *, width: int, since: datetime | None, until: datetime | None, now: datetime
) -> dict[str, Any]:
    """Return what `EVERY` is asked with: stretches of this many seconds; 0: points as they came."""
    found = list(segments(width, now))
    return {
        "job": job.id,
        "width": width,
        "widths": [tier.width for tier, _, _ in found],
        "since": [start for _, start, _ in found],
        "until": [end for _, _, end in found],
        "from": since or _EVER,
        "to": until or now + RAW_FOR,
    }


def segments(width: int, now: datetime) -> Iterator[tuple[Tier, datetime, datetime]]:
    """Yield which tier is read from when to when: the finest that is wide enough and still kept."""
    until = now + RAW_FOR
    for tier in TIERS:
        if tier.width >= width:
            begin = _EVER if tier.kept is None else _edge(now - tier.kept)
            yield tier, begin, until
            until = begin


def _edge(moment: datetime) -> datetime:
    """Return the next moment at which stretches of all widths begin."""
    widest = TIERS[-1].width
    return datetime.fromtimestamp(math.ceil(moment.timestamp() / widest) * widest, tz=UTC)
