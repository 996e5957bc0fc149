"""Is POST /jobs:bulk as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from control_plane.front.callers import BUCKET
from control_plane.front.counted_jobs import JOBS_OF_ONE
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from pytest_django import Settings
from rest_framework.test import APIClient, APIRequestFactory
from tenancy.access.keys import tokens
from tenancy.buckets import TokenBucket
from tenancy.models import ImageRule, Membership, Team

from jobs.commands.removal import job_deletion
from jobs.lifecycle import JobState
from jobs.models import Event, IdempotencyKey, Job, Measurement
from jobs.spec.bulk import MOST_JOBS
from tests.service.at_once import ask_at_once
from tests.service.conftest import SubmitJob, client_of, in_docker, make_team, spec

URL = "/api/v1/jobs:bulk"


def named(*names: str, **changes: Any) -> dict[str, Any]:
    return {"jobs": [spec(name=name, **changes) for name in names]}


def post(api: APIClient, body: object, *, key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return api.post(URL, body, format="json", headers=headers)


def problems(answer: Any) -> dict[str, str]:
    """What is wrong, by the place of the field."""
    return {one["field"]: one["problem"] for one in answer.json()["details"]}


def test_all_jobs_of_a_list_wait_in_its_order(api: APIClient) -> None:
    answer = post(api, named("b", "a", "c"))
    assert answer.status_code == 201
    assert [one["name"] for one in answer.json()["items"]] == ["b", "a", "c"]
    for one in answer.json()["items"]:
        job = Job.objects.get(pk=one["id"])
        assert (job.name, job.state, job.spec) == (one["name"], "queued", spec(name=one["name"]))
        event = Event.objects.get(job=job)
        assert (event.kind, event.new_state) == ("submitted", "queued")
    oldest_first = Job.objects.order_by("submitted_at").values_list("name", flat=True)
    assert list(oldest_first) == ["b", "a", "c"]


@pytest.mark.parametrize("path", [URL, "/api/v1/jobs:validate"])
def test_the_jobs_of_a_call_count_against_the_senders_rate(vision: Team, path: str) -> None:
    """As it is wired: with a bucket that is as good as empty, and is not refilled."""
    _, key = tokens.issue(team=vision, name="ci")
    bucket = TokenBucket(
        key=f"concertina:rate:write:{path}", capacity=2, per_second=0.001, tokens=1
    )

    def answer(jobs: int) -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        many = {"array": {"parameters": {"seed": f"1..{jobs}"}}, "seed": "{{seed}}"}
        one = spec(name=f"job-{jobs}", **many)
        body = {"spec": one} if path == URL else one
        request = APIRequestFactory().post(path, body, format="json", headers=headers)
        request.scope = {BUCKET: bucket}
        return resolve(path).func(request)

    sizes = (2, JOBS_OF_ONE, JOBS_OF_ONE + 1)
    assert {answer(size).status_code for size in sizes} == {201 if path == URL else 200}
    refused = answer(JOBS_OF_ONE + 2)
    assert (refused.status_code, "count as" in str(refused.data)) == (429, True)


def test_a_job_of_a_bulk_is_stored_as_if_it_came_alone(api: APIClient, submit: SubmitJob) -> None:
    alone = submit(name="alone", labels={"a": "b"}, priority=7)
    post(api, named("many", labels={"a": "b"}, priority=7))
    of_bulk = Job.objects.get(name="many")
    own = {"id", "name", "submitted_at", "spec", "resolved_spec"}
    for field in Job._meta.concrete_fields:  # noqa: SLF001 - its name
        if field.attname not in own:
            assert getattr(of_bulk, field.attname) == getattr(alone, field.attname), field
    assert of_bulk.resolved_spec == alone.resolved_spec | {"name": "many"}


def test_a_sweep_is_one_spec_with_changes(api: APIClient) -> None:
    sweep = {
        "spec": spec(env={"LR": "0.1", "DATA": "/data"}, command=["python", "train.py", "--x=1"]),
        "changes": [
            {"name": "slow", "env.LR": "0.01"},
            {"command[2]": "--x=2", "elastic.max_workers": 2, "labels.try": "2"},
            {},
        ],
    }
    answer = post(api, sweep)
    assert answer.status_code == 201, answer.json()
    slow, second, third = (Job.objects.get(pk=one["id"]) for one in answer.json()["items"])
    assert (slow.name, second.name, third.name) == ("slow", "digits-2", "digits-3")
    assert slow.spec["env"] == {"LR": "0.01", "DATA": "/data"}
    assert second.spec["command"] == ["python", "train.py", "--x=2"]
    assert (second.resolved_spec["elastic"]["max_workers"], second.labels) == (2, {"try": "2"})
    assert third.spec == {**sweep["spec"], "name": "digits-3"}


def test_a_bulk_may_be_yaml(api: APIClient) -> None:
    text = "spec: {name: digits, command: [a]}\nchanges: [{env.LR: '1'}, {env.LR: '2'}]\n"
    answer = api.post(URL, text, content_type="application/yaml")
    assert answer.status_code == 201
    assert list(Job.objects.order_by("name").values_list("spec__env__LR", flat=True)) == ["1", "2"]


def test_one_wrong_job_refuses_all_and_every_wrong_field_is_named(api: APIClient) -> None:
    body = named("a", "b", "c")
    body["jobs"][1] |= {"elastic": {"min_workers": 5, "max_workers": 3}}
    body["jobs"][2] |= {"team": "nobody", "pool": "nowhere"}
    answer = post(api, body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_spec")
    assert answer.json()["message"].startswith("2 of 3 jobs are refused. jobs[1].elastic.min_work")
    assert set(problems(answer)) == {"jobs[1].elastic.min_workers", "jobs[2].team", "jobs[2].pool"}
    assert not Job.objects.exists()


def test_a_wrong_change_is_named_by_its_place(api: APIClient) -> None:
    answer = post(api, {"spec": spec(), "changes": [{"seed": 1}, {"elastic.min_workers": 9}]})
    assert set(problems(answer)) == {"changes[1].elastic.min_workers"}


def test_however_much_is_wrong_the_answer_is_bounded_and_names_the_first_of_each(
    api: APIClient,
) -> None:
    jobs = [{"name": f"a{number}", "priority": 101, "seed": -1} for number in range(MOST_JOBS)]
    answer = post(api, {"jobs": jobs})
    details = answer.json()["details"]
    assert answer.json()["message"].startswith("1000 of 1000 jobs are refused.")
    assert len(details) == 200
    assert len({one["field"].partition(".")[0] for one in details}) == 200


NO_BULK: dict[str, tuple[object, str]] = {
    "a list": ([spec()], ""),
    "one job spec": (spec(), ""),
    "both forms": ({"jobs": [spec()], "spec": spec(), "changes": [{}]}, ""),
    "no jobs": ({"jobs": []}, "jobs"),
    "jobs that are no list": ({"jobs": {"a": 1}}, "jobs"),
    "too many jobs": ({"jobs": [{}] * (MOST_JOBS + 1)}, "jobs"),
    "too many changes": ({"spec": spec(), "changes": [{}] * (MOST_JOBS + 1)}, "changes"),
    "a spec that is no mapping": ({"spec": [], "changes": [{}]}, "spec"),
    "a change that is no mapping": ({"spec": spec(), "changes": [{}, 5]}, "changes[1]"),
    "a job that is no mapping": ({"jobs": [spec(), 5]}, "jobs[1]"),
    "a path through a number": (
        {"spec": spec(), "changes": [{"name.low": 1}]},
        "changes[0].name.low",
    ),
    "a path beyond a list": (
        {"spec": spec(), "changes": [{"command[9]": "a"}]},
        "changes[0].command[9]",
    ),
    "a path that is none": ({"spec": spec(), "changes": [{"env..LR": "a"}]}, "changes[0].env..LR"),
    "two teams": ({"jobs": [spec(), spec(name="b", team="language")]}, "jobs[1].team"),
    "a name twice": ({"jobs": [spec(), spec(name="b"), spec()]}, "jobs[2].name"),
}


@pytest.mark.parametrize("sentence", NO_BULK)
def test_what_is_no_bulk_is_refused_with_the_place(api: APIClient, sentence: str) -> None:
    body, place = NO_BULK[sentence]
    answer = post(api, body)
    assert answer.status_code == 422
    assert set(problems(answer)) == {place}
    assert not Job.objects.exists()


def test_a_person_of_two_teams_submits_for_one_at_a_time(
    vision: Team, language: Team, db: None
) -> None:
    person = User.objects.create_user("both")
    for team in (vision, language):
        Membership.objects.create(user=person, team=team, role=Membership.Role.MEMBER)
    api = APIClient()
    api.force_login(person)
    answer = post(api, {"jobs": [spec(team="vision"), spec(name="b", team="language")]})
    assert problems(answer) == {"jobs[1].team": "is not the team of jobs[0], which is vision"}
    assert post(api, {"jobs": [spec(team="language"), spec(name="b", team="language")]}).json()


def test_names_of_live_jobs_are_taken_and_named_by_place(api: APIClient, submit: SubmitJob) -> None:
    submit(name="b")
    answer = post(api, named("a", "b", "c"))
    assert (answer.status_code, answer.json()["code"]) == (409, "name_in_use")
    assert set(problems(answer)) == {"jobs[1].name"}
    assert Job.objects.count() == 1


def test_the_limit_of_waiting_jobs_holds_for_the_sum(api: APIClient, submit: SubmitJob) -> None:
    Team.objects.update(max_queued_jobs=3)
    submit(name="waits")
    answer = post(api, named("a", "b", "c"))
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_queued_jobs")
    assert (
        "has 1 waiting jobs, queued or paused, beside the 3 of this bulk"
        in answer.json()["message"]
    )
    assert Job.objects.count() == 1
    assert post(api, named("a", "b")).status_code == 201


def test_the_same_key_and_body_answer_with_the_same_jobs(api: APIClient) -> None:
    first = post(api, named("a", "b"), key="k")
    again = post(api, named("a", "b"), key="k")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["items"] == first.json()["items"]
    assert Job.objects.count() == 2
    assert post(api, named("a", "c"), key="k").json()["code"] == "idempotency_conflict"
    one = api.post("/api/v1/jobs", spec(), format="json", headers={"Idempotency-Key": "k"})
    assert one.json()["code"] == "idempotency_conflict"


def test_a_key_holds_although_jobs_of_its_bulk_were_deleted(api: APIClient) -> None:
    first = post(api, named("a", "b"), key="k").json()["items"]
    Job.objects.filter(name="a").update(state=JobState.CANCELLED)
    job_deletion.delete(job_id=first[0]["id"])
    assert post(api, named("a", "b"), key="k").json()["items"] == first
    assert Job.objects.count() == 1


def test_an_outlived_key_of_one_job_may_be_that_of_a_bulk(
    api: APIClient, submit: SubmitJob
) -> None:
    api.post("/api/v1/jobs", spec(), format="json", headers={"Idempotency-Key": "k"})
    row = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(created_at=row.created_at.replace(year=2020))
    made = post(api, named("a", "b"), key="k")
    assert made.status_code == 201
    assert post(api, named("a", "b"), key="k").json()["items"] == made.json()["items"]


@pytest.mark.django_db(transaction=True)
def test_of_two_bulks_at_once_that_share_a_name_one_is_made_and_one_refused_whole() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    api = client_of(make_team("vision", pool, guaranteed=2, limit=None))
    first, second = ask_at_once(
        lambda: post(api, named("a", "b")).status_code,
        lambda: post(api, named("c", "b")).status_code,
    )
    assert (first, second) == (201, 409)
    assert set(Job.objects.values_list("name", flat=True)) == {"a", "b"}


def test_notes_are_told_once(api: APIClient) -> None:
    body = named("a", "b", "c", elastic={"max_workers": 100})
    notes = post(api, body).json()["notes"]
    assert [note.partition(";")[0] for note in notes] == ["max_workers needs 100 GPUs"]


def statements(api: APIClient, body: dict[str, Any], *, key: str) -> list[str]:
    with CaptureQueriesContext(connection) as made:
        answer = post(api, body, key=key)
    assert answer.status_code == 201, answer.json()
    return [one["sql"] for one in made]


def test_a_hundred_jobs_take_as_many_statements_as_ten(
    api: APIClient, submit: SubmitJob, settings: Settings
) -> None:
    """Also where images, secrets' names and earlier runs of several trainings have to be read."""
    in_docker(settings)
    ImageRule.objects.create(pattern="docker.io/vision/*")
    for training in range(3):
        earlier = submit(name=f"earlier-{training}", env={"LR": f"{training}"}, image="vision/x:1")
        Measurement.objects.create(
            job=earlier,
            gpu_type="slot",
            workers=1,
            nodes=1,
            global_batch_size=64,
            steps=9,
            step_seconds=0.1,
        )
        Job.objects.filter(pk=earlier.pk).update(is_measured=True)
    sent = {
        size: {
            "spec": spec(name=f"sweep{size}", image="vision/x:1"),
            "changes": [{"env.LR": f"{number}"} for number in range(size)],
        }
        for size in (10, 100)
    }
    found = {size: statements(api, body, key=f"{size}") for size, body in sent.items()}
    assert len(found[10]) == len(found[100]) <= 25
    known = Job.objects.exclude(earlier_run="").values_list("name", flat=True)
    assert set(known) == {f"sweep{size}-{n}" for size in (10, 100) for n in (1, 2, 3)}


def test_one_job_takes_few_statements(api: APIClient) -> None:
    post(api, named("warm"))
    with CaptureQueriesContext(connection) as made:
        api.post("/api/v1/jobs", spec(), format="json", headers={"Idempotency-Key": "k"})
    assert len(made) <= 16, [one["sql"][:100] for one in made]
