"""Who used how much? GPU time of every job, and each team's GPUs at every tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from cluster.models import UtilisationSample
from django.db import connection
from tenancy import usage
from tenancy.models import Quota

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from jobs.models import GpuClaim
from jobs.spec.job_spec import MOST_GPUS
from jobs.spec.stored_fields import GPUS_PER_WORKER

COUNTED_SECONDS: Final = 30.0  # guessed: GPU time of a job that trains may be so old
MOST_COUNTED: Final = 200  # jobs in one tick; guessed: those of a thousand have their turn in time
TURNS: Final = 6  # ticks in which all of more jobs are counted; guessed: as many as in that time
SAMPLE_SECONDS: Final = 1.0  # ticks may come quicker than a chart can show

_GPU_SECONDS: Final = f"""
    UPDATE jobs_job SET gpu_seconds = held.seconds * LEAST(held.gpus, %(most_gpus)s),
        held_seconds = held.any_seconds
    FROM (
        SELECT job.id,
               CASE jsonb_typeof({GPUS_PER_WORKER.sql})
                   WHEN 'number' THEN ({GPUS_PER_WORKER.sql})::numeric
                   ELSE 1
               END AS gpus,
               SUM(GREATEST(0, EXTRACT(
                   EPOCH FROM COALESCE(worker.gone_at, %(now)s) - worker.created_at
               ))) AS seconds,  -- a clock may have stepped back
               (
                   SELECT COALESCE(SUM(EXTRACT(EPOCH FROM UPPER(life) - LOWER(life))), 0)
                   FROM unnest(range_agg(tstzrange(worker.created_at, GREATEST(
                       worker.created_at, COALESCE(worker.gone_at, %(now)s)
                   )))) AS life
               ) AS any_seconds
        FROM jobs_job job JOIN jobs_worker worker ON worker.job_id = job.id
        WHERE job.id IN (
            SELECT id FROM jobs_job WHERE id = ANY(%(jobs)s) FOR NO KEY UPDATE SKIP LOCKED
        )
        GROUP BY job.id
    ) held
    WHERE jobs_job.id = held.id
"""  # noqa: S608 - of a name that the spec has


class CountedLately:
    """Whose GPU time was counted when; it may be lost, and then all of it is counted once more.

    To write it down of each job in each tick took as long as to read what jobs report, and moved
    all their rows.
    """

    def __init__(self) -> None:
        self._at: dict[str, datetime] = {}

    def due(self, job_ids: Collection[str], now: datetime) -> list[str]:
        """Return the jobs whose turn it is, which are to be counted now; forget all others.

        Of many that have to be, those counted longest ago: not all rows move in one tick.
        """
        known = {one: at for one in job_ids if (at := self._at.get(one))}
        late = [one for one in job_ids if one not in known or not _is_lately(known[one], now)]
        most = max(MOST_COUNTED, -(-len(job_ids) // TURNS))
        due = sorted(late, key=lambda one: known[one].timestamp() if one in known else 0.0)[:most]
        self._at = known | dict.fromkeys(due, now)
        return due


def _is_lately(at: datetime, now: datetime) -> bool:
    """False also if the clock has stepped back."""
    return timedelta() <= now - at < timedelta(seconds=COUNTED_SECONDS)


def update_gpu_seconds(job_ids: Iterable[str], now: datetime) -> None:
    """GPU time held so far, from the lives of the workers: the same however often it is run.

    A job whose row is held at this moment is counted the next time.
    """
    jobs = list(job_ids)
    if not jobs:
        return
    with connection.cursor() as cursor:
        cursor.execute(_GPU_SECONDS, {"jobs": jobs, "now": now, "most_gpus": MOST_GPUS})


def sample_utilisation(waiting: Iterable[LiveJob], now: datetime) -> None:
    """One row per team and pool with a quota, GPUs in use or waiting jobs; usage grows along."""
    if UtilisationSample.objects.filter(at__gt=now - timedelta(seconds=SAMPLE_SECONDS)).exists():
        return
    used = _used_gpus()
    usage.record(used, now)
    wanted = _least_gpus(waiting)
    guaranteed = {
        (quota.pool_id, quota.team_id): quota.guaranteed_gpus for quota in Quota.objects.all()
    }
    UtilisationSample.objects.bulk_create(
        UtilisationSample(
            at=now,
            pool_id=pool_id,
            team_id=team_id,
            gpus=used[pool_id, team_id],
            guaranteed_gpus=guaranteed.get((pool_id, team_id), 0),
            waiting_gpus=wanted[pool_id, team_id],
        )
        for pool_id, team_id in sorted({*used, *wanted, *guaranteed})
    )


def _used_gpus() -> Counter[tuple[int, int]]:
    claims = GpuClaim.objects.values_list("node__pool_id", "worker__job__team_id")
    return Counter(claims)


def _least_gpus(waiting: Iterable[LiveJob]) -> Counter[tuple[int, int]]:
    """Return how many GPUs these jobs need to start, by pool and team."""
    least: Counter[tuple[int, int]] = Counter()
    for view in waiting:
        spec = view.spec
        gpus = spec.elastic.min_workers * spec.resources.gpus_per_worker
        least[view.job.pool_id, view.job.team_id] += gpus
    return least
