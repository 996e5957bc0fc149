"""What did a job's workers take over time? A bounded number of points, of all together or of one.

Of all workers together each measure is the sum over the workers that were read in a stretch of
time; the use of GPUs is their mean.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from jobs.models import Job, UsagePoint

_FINEST: Final = 10  # seconds; nodes are read no more often
_POINTS: Final = """
    WITH of_worker AS (
        SELECT floor(extract(epoch FROM at) / %(width)s) * %(width)s AS start, worker_id,
            sum(cpu_cores * points) / sum(points) FILTER (WHERE cpu_cores IS NOT NULL) AS cpu_cores,
            sum(memory_bytes * points) / sum(points) AS memory_bytes,
            sum(gpu_utilisation * points)
                / sum(points) FILTER (WHERE gpu_utilisation IS NOT NULL) AS gpu_utilisation,
            sum(gpu_memory_bytes * points)
                / sum(points) FILTER (WHERE gpu_memory_bytes IS NOT NULL) AS gpu_memory_bytes,
            sum(gpu_power_watts * points)
                / sum(points) FILTER (WHERE gpu_power_watts IS NOT NULL) AS gpu_power_watts
        FROM jobs_usagepoint
        WHERE job_id = %(job)s AND at >= %(since)s AND at <= %(until)s
            AND (%(worker)s = '' OR worker_id = %(worker)s)
        GROUP BY start, worker_id
    )
    SELECT to_timestamp(start) AS at, count(*) AS workers, sum(cpu_cores) AS cpu_cores,
        round(sum(memory_bytes))::bigint AS memory_bytes, avg(gpu_utilisation) AS gpu_utilisation,
        round(sum(gpu_memory_bytes))::bigint AS gpu_memory_bytes,
        sum(gpu_power_watts) AS gpu_power_watts
    FROM of_worker GROUP BY start ORDER BY start LIMIT %(most)s
"""


def usage_of(
    job: Job,
    *,
    points: int,
    worker: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[dict[str, Any]]:
    """Return at most so many points between two moments, oldest first: stretches of equal width.

    Old stretches are as wide as what is kept of them: see `jobs.commands.usage`.
    """
    start = max(since or job.submitted_at, job.submitted_at)
    end = min(until or timezone.now(), job.finished_at or timezone.now())
    seconds = max((end - start).total_seconds(), 0.0)
    width = max(math.ceil(seconds / points / _FINEST), 1) * _FINEST
    with connection.cursor() as cursor:
        cursor.execute(
            _POINTS,
            {
                "job": job.id,
                "worker": worker,
                "since": start,
                "until": end,
                "width": width,
                "most": points + 1,  # a stretch that has only begun
            },
        )
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return rows[-points:]


def busy_cores(job_id: str, worker_id: str) -> list[float]:
    """Return how many cores the worker kept busy, at each of the last looks at it, oldest first."""
    points = UsagePoint.objects.filter(job_id=job_id, width=0, worker_id=worker_id)
    read = points.filter(cpu_cores__isnull=False).order_by("at")
    return [cores or 0.0 for cores in read.values_list("cpu_cores", flat=True)]
