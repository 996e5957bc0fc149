"""Is POST /jobs as promised?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from django.db import connections
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import ImageRule, Quota, Team

from jobs.models import Event, Job
from tests.service.conftest import SubmitJob, client_of, in_docker, spec

URL = "/api/v1/jobs"


def test_an_accepted_job_waits_with_its_spec_as_sent_and_resolved(api: APIClient) -> None:
    answer = api.post(URL, spec(), format="json")
    assert answer.status_code == 201
    job = answer.json()
    assert job["state"] == "queued"
    assert job["team"] == "vision"
    assert job["submitted_by"] == "vision/ci"
    assert job["spec"] == spec()
    assert job["resolved_spec"]["pool"] == "default"
    assert job["resolved_spec"]["priority"] == 50
    assert job["global_batch_size"] == 64
    event = Event.objects.get(job_id=job["id"])
    assert (event.kind, event.new_state) == ("submitted", "queued")


def test_a_spec_that_cannot_be_is_refused_with_field_value_and_remedy(api: APIClient) -> None:
    answer = api.post(URL, spec(elastic={"min_workers": 5, "max_workers": 3}), format="json")
    assert answer.status_code == 422
    assert answer.json() == {
        "code": "invalid_spec",
        "message": "elastic.min_workers is greater than max_workers (3)."
        " Use at most 3, or raise max_workers.",
        "details": [
            {
                "field": "elastic.min_workers",
                "value": 5,
                "problem": "is greater than max_workers (3)",
                "remedy": "Use at most 3, or raise max_workers.",
            }
        ],
    }
    assert not Job.objects.exists()


def test_nobody_submits_without_a_token(pool: Pool) -> None:
    answer = APIClient().post(URL, spec(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("team", ["language", "nobody"])
def test_a_foreign_team_and_an_unknown_one_get_the_same_answer(
    api: APIClient, language: Team, team: str
) -> None:
    answer = api.post(URL, spec(team=team), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_team")
    assert answer.json()["details"] == [
        {
            "field": "team",
            "value": team,
            "problem": "is not a team for which you can submit jobs",
            "remedy": "Use one of: vision.",
        }
    ]


def test_an_unknown_pool_names_those_there_are(api: APIClient) -> None:
    answer = api.post(URL, spec(pool="h100"), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_pool")
    assert answer.json()["details"][0]["remedy"] == "Use one of: default."


def test_with_several_pools_a_job_must_name_one(api: APIClient) -> None:
    Node.objects.create(pool=Pool.objects.create(name="other"), name="node-9", gpus=1)
    answer = api.post(URL, spec(), format="json")
    assert answer.json()["details"][0]["problem"] == "is missing"
    assert api.post(URL, spec(pool="other"), format="json").status_code == 201


TOO_LARGE: dict[str, tuple[dict[str, Any], str, str]] = {
    "more than the pool names the pool's GPUs": (
        {"elastic": {"min_workers": 9, "max_workers": 9}, "resources": {"gpus_per_worker": 1}},
        "elastic.min_workers",
        "limit of team vision in pool default (limit_gpus) is 6",
    ),
    "more than the team's limit names the limit": (
        {"elastic": {"min_workers": 4, "max_workers": 4}, "resources": {"gpus_per_worker": 2}},
        "elastic.min_workers",
        "needs at least 8 GPUs (4 workers of 2), but the limit of team vision",
    ),
    "a worker larger than any node names the largest node": (
        {"resources": {"gpus_per_worker": 5}},
        "resources.gpus_per_worker",
        "is more than the 4 GPUs of the largest node",
    ),
    "the smallest count that has a batch counts": (
        {
            "elastic": {"min_workers": 1, "max_workers": 8},
            "batch": {
                "global_batch_size": 800,
                "per_gpu_batch_size": {"max": 100},
                "gradient_accumulation": False,
            },
        },
        "elastic.min_workers",
        "needs at least 8 GPUs (8 workers of 1)",
    ),
}


@pytest.mark.parametrize("sentence", TOO_LARGE)
def test_an_impossible_size_names_the_number_that_limits(api: APIClient, sentence: str) -> None:
    changes, field, problem = TOO_LARGE[sentence]
    answer = api.post(URL, spec(**changes), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "exceeds_limit")
    detail = answer.json()["details"][0]
    assert detail["field"] == field
    assert problem in detail["problem"]


def test_without_a_limit_the_pool_limits(foreign_api: APIClient) -> None:
    answer = foreign_api.post(
        URL, spec(elastic={"min_workers": 9, "max_workers": 9}), format="json"
    )
    assert "number of GPUs in pool default is 8" in answer.json()["message"]


ONLY_FOR_CONTAINERS: dict[str, dict[str, Any]] = {
    "image": {"image": "registry/x:1"},
    "resources.shm_size": {"resources": {"shm_size": "1GiB"}},
}


@pytest.mark.parametrize("field", ONLY_FOR_CONTAINERS)
def test_what_only_containers_have_is_refused_where_workers_are_processes(
    api: APIClient, field: str
) -> None:
    answer = api.post(URL, spec(**ONLY_FOR_CONTAINERS[field]), format="json")
    assert answer.status_code == 422
    assert "processes, not images" in answer.json()["message"]
    assert answer.json()["details"][0]["field"] == field


def test_images_and_shared_memory_are_accepted_where_workers_are_containers(
    api: APIClient, settings: Settings
) -> None:
    in_docker(settings)
    ImageRule.objects.create(pattern="docker.io/vision/*")
    body = spec(image="vision/x:1", resources={"memory": "4GiB", "shm_size": "1GiB"})
    answer = api.post(URL, body, format="json")
    assert answer.status_code == 201
    assert answer.json()["resolved_spec"]["image"] == "vision/x:1"
    assert answer.json()["resolved_spec"]["resources"]["shm_size"] == "1GiB"


def test_a_live_name_is_taken_and_free_again_when_the_job_has_ended(
    api: APIClient, submit: SubmitJob
) -> None:
    job = submit()
    answer = api.post(URL, spec(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "name_in_use")
    assert "'digits'" in answer.json()["message"]
    api.post(f"{URL}/{job.id}/cancel")
    assert api.post(URL, spec(), format="json").status_code == 201


def test_two_teams_may_use_the_same_name(api: APIClient, foreign_api: APIClient) -> None:
    assert api.post(URL, spec(), format="json").status_code == 201
    assert foreign_api.post(URL, spec(), format="json").status_code == 201


def test_a_team_without_quota_may_use_the_whole_pool(pool: Pool) -> None:
    team = Team.objects.create(name="guests")
    assert not Quota.objects.filter(team=team).exists()
    answer = client_of(team).post(
        URL, spec(elastic={"min_workers": 8, "max_workers": 8}), format="json"
    )
    assert answer.status_code == 201


def test_a_deadline_that_has_passed_is_refused(api: APIClient) -> None:
    answer = api.post(URL, spec(deadline="2020-01-01T08:00:00Z"), format="json")
    assert answer.status_code == 422
    (problem,) = answer.json()["details"]
    assert (problem["field"], problem["problem"]) == ("deadline", "has passed")
    assert problem["value"] == "2020-01-01T08:00:00Z"


def test_beyond_max_queued_jobs_the_next_one_is_refused(
    api: APIClient, foreign_api: APIClient, vision: Team, admin_user: User
) -> None:
    admin_api = APIClient()
    admin_api.force_authenticate(admin_user)
    changed = admin_api.patch("/api/v1/teams/vision", {"max_queued_jobs": 2}, format="json")
    assert (changed.status_code, changed.json()["max_queued_jobs"]) == (200, 2)
    first, _ = (api.post(URL, spec(name=name), format="json") for name in ("a", "b"))
    api.post(f"{URL}/{first.json()['id']}/pause")
    answer = api.post(URL, spec(name="c"), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_queued_jobs")
    assert answer.json()["message"] == (
        "Team vision has 2 waiting jobs, queued or paused, and may have at most 2"
        " (max_queued_jobs)."
        " Cancel some, submit later, or ask an admin to raise it."
    )
    assert foreign_api.post(URL, spec(name="c"), format="json").status_code == 201
    api.post(f"{URL}/{first.json()['id']}/cancel")
    assert api.post(URL, spec(name="c"), format="json").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_submissions_at_once_no_more_are_taken_than_may_wait(vision: Team) -> None:
    Team.objects.update(max_queued_jobs=3)

    def submit(number: int) -> int:
        try:
            answer = client_of(vision).post(URL, spec(name=f"j{number}"), format="json")
            return answer.status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(submit, range(8)))
    assert sorted(codes) == [201] * 3 + [409] * 5
    assert Job.objects.count() == 3


@pytest.mark.parametrize("value", [-1, 100_001, "many", None])
def test_only_admins_change_how_many_may_wait_and_only_within_bounds(
    api: APIClient, admin_user: User, value: Any
) -> None:
    change = {"max_queued_jobs": value}
    assert api.patch("/api/v1/teams/vision", change, format="json").status_code == 403
    api.force_authenticate(admin_user)
    assert api.patch("/api/v1/teams/vision", change, format="json").status_code == 400
    assert Team.objects.get(name="vision").max_queued_jobs == 1000
