"""How much GPU time did teams hold in a month, up to now? Closed hours, and what came since."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from typing import Final

from django.db import connection

_USED: Final = """
    WITH closed AS (
        SELECT greatest(coalesce(max(hour) + interval '1 hour', %(begins)s), %(begins)s) AS until
        FROM gpu_accounts_closedhour
    )
    SELECT team, sum(microseconds) / 3600000000 FROM (
        SELECT team, (guaranteed + borrowed)::float8 AS microseconds FROM gpu_accounts_teamday
        WHERE day >= %(first)s AND day < %(next)s AND team = ANY(%(teams)s)
        UNION ALL
        SELECT job.team, 1e6::float8 * span.gpus * greatest(0, extract(
            epoch FROM least(coalesce(span.until, %(now)s), %(now)s)
            - greatest(span.since, closed.until)
        )::float8)
        FROM gpu_accounts_heldspan AS span
        JOIN gpu_accounts_accountedjob AS job ON job.id = span.job_id
        CROSS JOIN closed
        WHERE (span.until IS NULL OR span.until > closed.until) AND job.team = ANY(%(teams)s)
    ) AS held
    GROUP BY team
"""


def gpu_hours_of_month(
    teams: Collection[str], month: date, next_month: date, *, now: datetime
) -> Mapping[str, float]:
    """Return the GPU-hours that jobs of each team held since the month began, in one statement.

    Whoever was promised the GPUs: what a team lends is not its own use, what it borrows is.
    """
    begins = datetime.combine(month, datetime.min.time(), UTC)
    with connection.cursor() as cursor:
        cursor.execute(
            _USED,
            {
                "teams": list(teams),
                "first": month,
                "next": next_month,
                "begins": begins,
                "now": now,
            },
        )
        return {team: float(hours) for team, hours in cursor.fetchall()}
