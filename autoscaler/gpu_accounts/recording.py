"""What does each tick write down, so that hours can be accounted for? Who holds, what there is.

Each statement compares what is now with what was written last, and writes only what differs, so a
tick that was killed or did not come is made up for by the next one. The number of statements does
not depend on how many jobs there are. Claims of GPUs change in ticks only, so nothing that was
held between two looks is missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from autoscaler.gpu_accounts.models import (
    CapacitySpan,
    HeldSpan,
    OwedSpan,
    PromiseSpan,
    UnseenSpan,
)
from jobs.worker_phase import WorkerPhase

UNSEEN_AFTER: Final = timedelta(minutes=5)  # guessed: many ticks, and little that changes unseen
LONGEST_LABELS: Final = 4_000  # characters of a job's; kept for ever, of every job that comes

_SET_CLOCK: Final = """
    WITH former AS (SELECT at FROM gpu_accounts_accountsclock WHERE id = 1)
    INSERT INTO gpu_accounts_accountsclock AS clock (id, at) VALUES (1, %(now)s)
    ON CONFLICT (id) DO UPDATE SET at = GREATEST(clock.at, EXCLUDED.at)
    RETURNING at, (SELECT at FROM former)
"""
_HOLDING: Final = """
    SELECT worker.job_id, node.pool_id, count(*) AS gpus,
        count(*) / count(DISTINCT worker.id) AS gpus_per_worker,
        count(*) FILTER (WHERE worker.phase = ANY(%(preparing)s)) AS starting_gpus
    FROM jobs_gpuclaim AS claim
    JOIN cluster_node AS node ON node.id = claim.node_id
    JOIN jobs_worker AS worker ON worker.id = claim.worker_id
    GROUP BY worker.job_id, node.pool_id
"""
_ACCOUNT_FOR_JOBS: Final = f"""
    WITH holding AS ({_HOLDING}), seen AS (
        SELECT job.id, pool.name AS pool, team.name AS team, job.submitted_by, job.name,
            CASE WHEN length(job.labels::text) <= %(longest_labels)s THEN job.labels
                ELSE '{{}}' END AS labels,
            coalesce(
                (
                    SELECT max(counted_generation) FROM gpu_accounts_accountedjob
                    WHERE job = job.id
                ),
                job.generation
            ) AS counted_generation
        FROM holding
        JOIN jobs_job AS job ON job.id = holding.job_id
        JOIN cluster_pool AS pool ON pool.id = holding.pool_id
        JOIN tenancy_team AS team ON team.id = job.team_id
    )
    INSERT INTO gpu_accounts_accountedjob (
        job, pool, team, "user", name, labels, counted_generation
    )
    SELECT seen.* FROM seen
    LEFT JOIN gpu_accounts_accountedjob AS known
        ON known.job = seen.id AND known.pool = seen.pool AND known.team = seen.team
    WHERE (known.name, known.labels) IS DISTINCT FROM (seen.name, seen.labels)
    ON CONFLICT (job, pool, team) DO UPDATE SET name = EXCLUDED.name, labels = EXCLUDED.labels
"""  # noqa: S608 - of what stands above
_HELD: Final = f"""
    SELECT account.id AS job_id, holding.gpus, holding.starting_gpus, job.priority, job.generation,
        coalesce(switches.stall_seconds, 0) AS stall_seconds,
        coalesce(switches.lost_gpu_seconds, 0) AS lost_gpu_seconds
    FROM ({_HOLDING}) AS holding
    JOIN jobs_job AS job ON job.id = holding.job_id
    JOIN cluster_pool AS pool ON pool.id = holding.pool_id
    JOIN tenancy_team AS team ON team.id = job.team_id
    JOIN gpu_accounts_accountedjob AS account
        ON account.job = job.id AND account.pool = pool.name AND account.team = team.name
    LEFT JOIN LATERAL (
        SELECT sum(switch.stall_seconds) AS stall_seconds,
            sum(switch.lost_work_seconds * holding.gpus_per_worker * (
                SELECT coalesce(max(before.workers), switch.workers) FROM (
                    SELECT workers FROM jobs_generation
                    WHERE job_id = job.id AND number < switch.number AND workers > 0
                    ORDER BY number DESC LIMIT 1
                ) AS before
            )) AS lost_gpu_seconds
        FROM jobs_generation AS switch
        WHERE switch.job_id = job.id AND switch.number > account.counted_generation
            AND switch.number <= job.generation
    ) AS switches ON job.generation > account.counted_generation
"""  # noqa: S608 - of what stands above
_COUNT_SWITCHES: Final = """
    UPDATE gpu_accounts_accountedjob AS account SET counted_generation = span.generation
    FROM gpu_accounts_heldspan AS span
    WHERE span.until IS NULL AND span.job_id = account.id
        AND span.generation > account.counted_generation
"""
# A stall is over when it is told of, so it is counted in the time that follows; not if the job held
# nothing before, or only workers that started: then it is known what became of that time.
_PASSED: Final = "extract(epoch FROM %(at)s - former.since)"
_ALL_START: Final = "former.starting_gpus = former.gpus"
_WHAT_SWITCHES_COST: Final = {
    "stall_seconds": f"""
        CASE WHEN former.id IS NULL OR seen.job_id IS NULL THEN 0
        WHEN {_ALL_START} THEN former.stall_seconds
        ELSE greatest(former.stall_seconds - {_PASSED}, 0) + seen.stall_seconds END""",
    "lost_gpu_seconds": """
        coalesce(seen.lost_gpu_seconds, 0)
        + CASE WHEN former.since = %(at)s THEN former.lost_gpu_seconds ELSE 0 END""",
}
_CAPACITY: Final = """
    SELECT pool.name AS pool, coalesce(sum(node.gpus), 0) AS gpus
    FROM cluster_pool AS pool LEFT JOIN cluster_node AS node ON node.pool_id = pool.id
    GROUP BY pool.name
"""
_PROMISES: Final = """
    SELECT pool.name AS pool, team.name AS team, coalesce(above.name, '') AS parent,
        coalesce(quota.guaranteed_gpus, 0) AS guaranteed_gpus, quota.limit_gpus,
        quota.lending_limit_gpus
    FROM cluster_pool AS pool CROSS JOIN tenancy_team AS team
    LEFT JOIN tenancy_team AS above ON above.id = team.parent_id
    LEFT JOIN tenancy_quota AS quota ON quota.pool_id = pool.id AND quota.team_id = team.id
    WHERE quota.id IS NOT NULL OR above.id IS NOT NULL
"""


def statement_for_changes(
    kind: type[HeldSpan | CapacitySpan | PromiseSpan | OwedSpan], seen: str, **more: str
) -> str:
    """Return the statement that ends what holds no more, and begins what holds from now on.

    A full join is never made row by row, whatever PostgreSQL believes about how few there are.
    """
    table = kind._meta.db_table  # noqa: SLF001 - its name
    columns = (*kind.KEY, *kind.VALUES)
    is_same = " AND ".join(f"former.{name} = seen.{name}" for name in kind.KEY)
    before, after = (", ".join(f"{of}.{name}" for name in kind.VALUES) for of in ("former", "seen"))
    news = ", ".join(
        (*(f"seen.{name}" for name in columns), *(f"{how} AS {name}" for name, how in more.items()))
    )
    written = ", ".join((*columns, *more))
    return f"""
        WITH seen AS ({seen}),
        former AS (SELECT * FROM {table} WHERE until IS NULL),
        changed AS (
            SELECT former.id AS former, {news} FROM former FULL JOIN seen ON {is_same}
            WHERE ({before}) IS DISTINCT FROM ({after})
        ),
        ended AS (
            UPDATE {table} AS span SET until = %(at)s
            FROM changed WHERE span.id = changed.former RETURNING span.id
        )
        INSERT INTO {table} ({written}, since)
        SELECT {written}, %(at)s FROM changed
        WHERE {kind.KEY[0]} IS NOT NULL
            AND (SELECT count(*) FROM ended) >= 0  -- first the former ones end
    """  # noqa: S608 - of names of columns


_RECORD: Final = (
    _ACCOUNT_FOR_JOBS,
    statement_for_changes(HeldSpan, _HELD, **_WHAT_SWITCHES_COST),
    _COUNT_SWITCHES,
    statement_for_changes(CapacitySpan, _CAPACITY),
    statement_for_changes(PromiseSpan, _PROMISES),
)


def record(now: datetime) -> datetime:
    """Write down what differs from the last time. The caller's transaction holds it together.

    Return the time of the accounts: where the clock has stepped back, it stands still until it has
    been caught up with.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SET_CLOCK, {"now": now})
        at, former = cursor.fetchone()
        values: Mapping[str, Any] = {
            "at": at,
            "preparing": [WorkerPhase.STARTING.value, WorkerPhase.READY.value],
            "longest_labels": LONGEST_LABELS,
        }
        for statement in _RECORD:
            cursor.execute(statement, values)
    if former is not None and at - former > UNSEEN_AFTER:
        UnseenSpan.objects.create(since=former, until=at)
    recorded_at: datetime = at
    return recorded_at
