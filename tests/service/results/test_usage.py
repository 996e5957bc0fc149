"""What workers take is shown as a bounded number of points, and becomes coarser as it gets old."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.commands.usage import WorkerUse, record_usage, roll_up_usage
from jobs.models import Job, UsagePoint

GIB = 1 << 30


def took(job: Job, worker: str, **fields: Any) -> WorkerUse:
    given = {"cpu_cores": 1.0, "memory_bytes": GIB, **fields}
    return WorkerUse(job_id=job.id, worker_id=worker, **given)


def store(job: Job, at: datetime, **fields: Any) -> None:
    """Of two workers."""
    Job.objects.filter(pk=job.pk, submitted_at__gt=at).update(submitted_at=at)
    record_usage([took(job, "w1", **fields), took(job, "w2")], idle=(), busy=(), now=at)


def asked(client: APIClient, job: Job, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/jobs/{job.id}/usage?{query}")
    assert answer.status_code == 200, answer.json()
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_points_are_of_all_workers_together_or_of_one(api: APIClient, job: Job) -> None:
    now = timezone.now()
    gpu = {"gpu_utilisation": 0.9, "gpu_memory_bytes": 5 * GIB, "gpu_power_watts": 300.0}
    store(job, now - timedelta(seconds=30), **gpu)
    (both,) = asked(api, job)
    assert (both["workers"], both["cpu_cores"], both["memory_bytes"]) == (2, 2.0, 2 * GIB)
    assert (both["gpu_utilisation"], both["gpu_power_watts"]) == (0.9, 300.0)
    (one,) = asked(api, job, "worker=w2")
    assert (one["workers"], one["cpu_cores"], one["gpu_utilisation"]) == (1, 1.0, None)
    assert asked(api, job, "worker=nobody") == []


def test_a_long_time_is_shown_in_few_points(api: APIClient, job: Job) -> None:
    now = timezone.now()
    for ago in range(0, 600, 10):
        store(job, now - timedelta(seconds=ago), cpu_cores=3.0)
    points = asked(api, job, "points=20")
    assert 15 <= len(points) <= 20
    assert {point["cpu_cores"] for point in points} == {4.0}


@pytest.mark.parametrize("query", ["points=0", "points=5001", "since=yesterday"])
def test_what_makes_no_sense_is_refused(api: APIClient, job: Job, query: str) -> None:
    assert api.get(f"/api/v1/jobs/{job.id}/usage?{query}").status_code == 400


def test_since_when_a_job_is_idle_is_told_while_it_trains(api: APIClient, job: Job) -> None:
    now = timezone.now()
    record_usage([], idle=[job.id], busy=[], now=now)
    assert Job.objects.get().idle_since is None  # it waits
    Job.objects.update(state="running")
    record_usage([], idle=[job.id], busy=[], now=now)
    record_usage([], idle=[job.id], busy=[], now=now + timedelta(seconds=10))
    answer = api.get(f"/api/v1/jobs/{job.id}/usage").json()
    assert datetime.fromisoformat(answer["idle_since"]) == now
    record_usage([], idle=[], busy=[job.id], now=now + timedelta(seconds=20))
    assert Job.objects.get().idle_since is None


def test_old_points_become_one_for_each_stretch(job: Job) -> None:
    now = timezone.now().replace(minute=30, second=0, microsecond=0)
    for ago, cores in ((7260, 1.0), (7250, 2.0), (7240, None), (10, 5.0)):
        store(job, now - timedelta(seconds=ago), cpu_cores=cores)
    assert roll_up_usage(now, lambda: True) == 6
    assert roll_up_usage(now, lambda: True) == 0
    first = UsagePoint.objects.get(worker_id="w1", width=60)
    assert (first.points, first.cpu_cores, first.memory_bytes) == (3, 1.5, GIB)
    assert UsagePoint.objects.filter(width=0).count() == 2
    store(job, now - timedelta(seconds=7230), cpu_cores=4.5)  # a point that comes late
    roll_up_usage(now, lambda: True)
    first.refresh_from_db()
    assert (first.points, first.cpu_cores) == (4, pytest.approx(2.25))
    assert roll_up_usage(now + timedelta(days=2), lambda: True) > 0
    assert set(UsagePoint.objects.values_list("width", flat=True)) == {600}
    assert sum(UsagePoint.objects.values_list("points", flat=True)) == 10


def test_points_of_a_job_that_was_deleted_meanwhile_are_dropped(job: Job) -> None:
    now = timezone.now()
    gone = WorkerUse(job_id="nobody", worker_id="w9", memory_bytes=1)
    record_usage([took(job, "w1"), gone], idle=[], busy=[], now=now - timedelta(hours=2))
    assert UsagePoint.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("UPDATE jobs_usagepoint SET job_id = 'nobody'")
    roll_up_usage(now, lambda: True)
    assert UsagePoint.objects.count() == 0
