"""Does GET /nodes/{name}/jobs tell whom it hits if the node is taken out of service?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from jobs.models import GpuClaim, Job
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


def test_an_unknown_node_is_not_found(admin_api: APIClient, job: Job) -> None:
    answer = admin_api.get("/api/v1/nodes/nowhere/jobs")
    assert (answer.status_code, answer.json()["message"]) == (404, "There is no node 'nowhere'.")


def test_a_team_is_not_told(api: APIClient) -> None:
    answer = api.get(URL)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
