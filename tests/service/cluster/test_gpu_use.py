"""Is GET /cluster/gpus as promised: how busy the GPUs are, of jobs that one may see?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from jobs.models import Job, Worker
from tests.service.conftest import run

URL = "/api/v1/cluster/gpus"


def test_each_gpu_says_how_busy_it_is(api: APIClient, job: Job) -> None:
    first, _ = run(job, workers=2)
    Worker.objects.filter(pk=first.pk).update(
        gpu_utilisation=0.92, gpu_memory_bytes=30, gpu_memory_total_bytes=80, is_straggler=True
    )
    busy, silent = api.get(URL).json()["items"]
    assert busy == {
        "node": "node-1",
        "gpu_index": 0,
        "worker": first.id,
        "utilisation": 0.92,
        "memory_bytes": 30,
        "memory_total_bytes": 80,
        "is_slow": True,
    }
    assert (silent["gpu_index"], silent["utilisation"], silent["is_slow"]) == (1, None, False)


def test_nothing_is_told_of_other_teams_jobs_but_to_admins(
    foreign_api: APIClient, admin_user: User, job: Job
) -> None:
    run(job, workers=2)
    assert foreign_api.get(URL).json() == {"items": []}
    admin = APIClient()
    admin.force_authenticate(admin_user)
    assert len(admin.get(URL).json()["items"]) == 2


@pytest.mark.parametrize("workers", [1, 4])
def test_it_is_one_statement_however_many_there_are(
    admin_user: User, job: Job, workers: int
) -> None:
    run(job, workers=workers)
    admin = APIClient()
    admin.force_authenticate(admin_user)
    with CaptureQueriesContext(connection) as statements:
        assert len(admin.get(URL).json()["items"]) == workers
    assert sum("jobs_gpuclaim" in one["sql"] for one in statements) == 1
