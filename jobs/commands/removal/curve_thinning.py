"""How many points of a job's curves are kept while it trains? A bounded number, densest at the end.

A job makes a point a second, and a chart shows a few hundred. Where there are too many, every
second one of the older half goes; older parts, already thinned, get thinner each time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Q

from jobs.lifecycle import LIVE
from jobs.models import Job, MetricPoint

MOST_POINTS: Final = 20_000  # of one job; guessed: 6 MB, more than five hours of every second
POINTS_AT_ONCE: Final = 10_000  # looked at by one statement
_LATELY: Final = timedelta(days=2)  # since it ended: nothing is added any more

_THIN: Final = """
    DELETE FROM jobs_metricpoint WHERE id IN (
        SELECT id FROM (
            SELECT id, row_number() OVER (ORDER BY generation, step) AS number
            FROM (
                SELECT id, generation, step FROM jobs_metricpoint WHERE job_id = %(job)s
                ORDER BY generation, step LIMIT %(oldest)s
            ) oldest
        ) numbered
        WHERE number %% 2 = 0
    )
"""


def thin_curves(now: datetime, has_time: Callable[[], bool]) -> int:
    """Thin the curves of all jobs with too many points; return how many points went."""
    lately = Q(state__in=LIVE) | Q(finished_at__gt=now - _LATELY)
    long_ones = Job.objects.filter(lately, metric_points__gt=MOST_POINTS, curves_removed_at=None)
    thinned = 0
    for job_id in list(long_ones.order_by("pk").values_list("pk", flat=True)):
        while has_time() and (gone := _thin(job_id)):
            thinned += gone
    return thinned


def _thin(job_id: str) -> int:
    """Delete points in one bounded statement; return 0 if there are few enough."""
    count = MetricPoint.objects.filter(job=job_id).count()
    if count <= MOST_POINTS:
        return 0
    # No more than are too many, for every second one of these goes.
    oldest = min(POINTS_AT_ONCE, count - MOST_POINTS // 2)
    with connection.cursor() as cursor:
        cursor.execute(_THIN, {"job": job_id, "oldest": oldest})
        return int(cursor.rowcount)
