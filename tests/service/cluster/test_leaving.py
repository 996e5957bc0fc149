"""Does GET /nodes/{name}/jobs tell whom it hits if the node is taken out of service?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from jobs.models import GpuClaim, Job, Worker
from tests.service.conftest import SubmitJob, run

URL = "/api/v1/nodes/node-1/jobs"


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def test_jobs_are_named_with_what_they_have_there(
    admin_api: APIClient, job: Job, submit: SubmitJob
) -> None:
    run(job, workers=2)
    submit(name="waits")
    told = admin_api.get(URL).json()
    assert (told["count"], told["gpus_free_elsewhere"]) == (1, 4)
    assert told["items"] == [
        {
            "id": job.id,
            "name": "digits",
            "team": "vision",
            "mode": "auto",
            "workers_here": 2,
            "workers_elsewhere": 0,
            "gpus_here": 2,
            "min_workers": 1,
            "can_move": True,
            "workers_with_room": 4,
            "without_room": "pauses",
        }
    ]


@pytest.mark.parametrize("closed", [{"is_schedulable": False}, {"silent_since": "2026-11-22T14Z"}])
def test_gpus_are_not_free_on_nodes_that_take_no_work(
    admin_api: APIClient, job: Job, closed: dict[str, Any]
) -> None:
    Node.objects.filter(name="node-2").update(**closed)
    assert admin_api.get(URL).json()["gpus_free_elsewhere"] == 0


@pytest.mark.parametrize(
    ("elsewhere", "changes", "without_room"),
    [
        (1, {}, "shrinks"),
        (1, {"elastic": {"min_workers": 2, "max_workers": 4}}, "pauses"),
        (1, {"elastic": {"min_workers": 1, "max_workers": 4, "mode": "fixed"}}, "pauses"),
        (1, {"preemptibility": "non-preemptible"}, "shrinks"),
        (0, {"preemptibility": "non-preemptible"}, "stays"),
    ],
)
def test_what_a_drain_means_where_there_is_no_room(
    admin_api: APIClient,
    submit: SubmitJob,
    elsewhere: int,
    changes: dict[str, Any],
    without_room: str,
) -> None:
    workers = run(submit(**changes), workers=3)
    other = Node.objects.get(name="node-2")
    GpuClaim.objects.filter(worker__in=workers[:elsewhere]).update(node=other)
    (told,) = admin_api.get(URL).json()["items"]
    assert (told["workers_here"], told["workers_elsewhere"]) == (3 - elsewhere, elsewhere)
    assert told["without_room"] == without_room


@pytest.mark.parametrize(
    ("declared", "found", "without_room"),
    [
        ("auto", "hot", "shrinks"),
        ("auto", "restart", "pauses"),
        ("restart", "restart", "shrinks"),
        ("fixed", "fixed", "pauses"),
    ],
)
def test_a_job_moves_while_it_trains_only_if_its_workers_share_the_work(
    admin_api: APIClient, submit: SubmitJob, declared: str, found: str, without_room: str
) -> None:
    job = submit(elastic={"min_workers": 1, "max_workers": 4, "mode": declared})
    workers = run(job, workers=2)
    Job.objects.filter(pk=job.pk).update(mode=found)
    other = Node.objects.get(name="node-2")
    GpuClaim.objects.filter(worker=workers[0]).update(node=other)
    (told,) = admin_api.get(URL).json()["items"]
    assert told["without_room"] == without_room
    assert told["can_move"] is (without_room == "shrinks")


def test_room_that_is_scattered_takes_no_worker_of_several_gpus(
    admin_api: APIClient, submit: SubmitJob, job: Job
) -> None:
    spec = {"resources": {"gpus_per_worker": 2}, "elastic": {"min_workers": 1, "max_workers": 1}}
    (worker,) = run(submit(name="wide", **spec), workers=1)
    GpuClaim.objects.create(node=worker.node, gpu_index=1, worker=worker)
    pool = worker.node.pool_id
    Node.objects.filter(name="node-2").update(gpus=1)
    Node.objects.create(name="node-3", gpus=1, pool_id=pool)
    shrunk = Node.objects.create(name="node-4", gpus=1, pool_id=pool)
    other = Worker.objects.create(id="held", job=job, attempt=1, node=shrunk)
    for index in range(3):
        GpuClaim.objects.create(node=shrunk, gpu_index=index, worker=other)
    told = admin_api.get(URL).json()
    assert (told["gpus_free_elsewhere"], told["items"][0]["workers_with_room"]) == (2, 0)


@pytest.mark.parametrize("jobs", [1, 3])
def test_it_takes_as_many_statements_however_many_jobs_there_are(
    admin_api: APIClient, submit: SubmitJob, jobs: int
) -> None:
    node = Node.objects.get(name="node-1")
    for number in range(jobs):
        one = submit(name=f"one-{number}")
        worker = Worker.objects.create(id=f"{one.id}-1-1", job=one, attempt=1, node=node)
        GpuClaim.objects.create(node=node, gpu_index=number, worker=worker)
    with CaptureQueriesContext(connection) as statements:
        assert admin_api.get(URL).json()["count"] == jobs
    assert sum("jobs_gpuclaim" in one["sql"] for one in statements) == 3


def test_an_unknown_node_is_not_found(admin_api: APIClient, job: Job) -> None:
    answer = admin_api.get("/api/v1/nodes/nowhere/jobs")
    assert (answer.status_code, answer.json()["message"]) == (404, "There is no node 'nowhere'.")


def test_a_team_is_not_told(api: APIClient) -> None:
    answer = api.get(URL)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
