"""Does a request that is sent again, one after the other or at once, make one job?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster.models import Node, Pool
from django.db import connections
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import IdempotencyKey, Job
from tests.service.at_once import ask_at_once
from tests.service.conftest import client_of, make_team, spec

URL = "/api/v1/jobs"


def test_the_same_key_and_body_answer_with_the_same_job(api: APIClient) -> None:
    first = api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"})
    again = api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert Job.objects.count() == 1


def test_the_same_key_with_another_body_is_a_conflict(api: APIClient) -> None:
    api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"})
    answer = api.post(URL, spec(name="b"), format="json", headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")


def test_keys_of_two_teams_do_not_meet(api: APIClient, foreign_api: APIClient) -> None:
    for client in (api, foreign_api):
        answer = client.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"})
        assert answer.status_code == 201


def test_an_outlived_key_is_forgotten(api: APIClient) -> None:
    first = api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"}).json()
    row = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(created_at=row.created_at.replace(year=2020))
    answer = api.post(URL, spec(name="b"), format="json", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 201
    assert answer.json()["id"] != first["id"]


def test_a_key_without_end_is_refused(api: APIClient) -> None:
    answer = api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k" * 201})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


def test_a_request_sent_again_gets_its_job_though_it_would_be_refused_by_now(
    api: APIClient, pool: Pool
) -> None:
    wanted = spec(elastic={"min_workers": 2, "max_workers": 2})
    first = api.post(URL, wanted, format="json", headers={"Idempotency-Key": "k"})
    Node.objects.all().delete()
    again = api.post(URL, wanted, format="json", headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    other = api.post(URL, wanted, format="json", headers={"Idempotency-Key": "l"})
    assert other.status_code == 422


@pytest.mark.django_db(transaction=True)
def test_the_same_request_sent_many_times_at_once_makes_one_job() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    api = client_of(make_team("vision", pool, guaranteed=2, limit=None))

    def send(_: int) -> tuple[int, str]:
        try:
            answer = api.post(URL, spec(), format="json", headers={"Idempotency-Key": "k"})
            return answer.status_code, answer.json()["id"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(send, range(6)))
    assert sorted(code for code, _ in answers) == [200] * 5 + [201]
    assert len({job_id for _, job_id in answers}) == 1


@pytest.mark.django_db(transaction=True)
def test_a_key_taken_at_the_same_moment_by_another_body_is_a_conflict() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    api = client_of(make_team("vision", pool, guaranteed=2, limit=None))

    def send(name: str) -> tuple[int, str]:
        answer = api.post(URL, spec(name=name), format="json", headers={"Idempotency-Key": "k"})
        return answer.status_code, answer.json().get("code", "")

    answers = ask_at_once(lambda: send("first"), lambda: send("second"))
    assert answers == ((201, ""), (409, "idempotency_conflict"))
    assert Job.objects.get().name == "first"


@pytest.mark.parametrize("key", ["", "a" * 201, "caf\xe9", "a b\x7f"])
def test_a_key_that_does_not_fit_is_refused(api: APIClient, key: str) -> None:
    answer = api.post(URL, spec(), format="json", HTTP_IDEMPOTENCY_KEY=key)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert answer.json()["details"][0]["field"] == "Idempotency-Key"


@pytest.mark.django_db(transaction=True)
def test_a_request_sent_again_at_the_last_place_gets_the_job_that_it_made(vision: Team) -> None:
    Team.objects.update(max_queued_jobs=1)

    def submit() -> tuple[int, str]:
        client = client_of(vision)
        answer = client.post(URL, spec(), format="json", HTTP_IDEMPOTENCY_KEY="again")
        return answer.status_code, answer.json()["id"]

    (first, made), (again, found) = ask_at_once(submit, submit)
    assert (first, again, found) == (201, 200, made)
