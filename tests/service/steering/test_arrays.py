"""`array`: which jobs a spec becomes, and what is told of and done with all of them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.models import AuditEntry, Membership, Team
from tenancy.models.retention_rule import KeptPart

from jobs.commands.removal import job_deletion, retention
from jobs.commands.removal.retention_periods import JobRetention
from jobs.errors import SpecInvalid
from jobs.lifecycle import JobState
from jobs.models import Event, Job, JobArray
from jobs.spec.arrays.expansion import read_one
from tests.service.conftest import SubmitJob, run, spec

URL = "/api/v1/arrays"
GRID = {"lr": [0.1, 0.01], "seed": "0..2"}
COMMAND = ["python", "train.py", "--lr={{lr}}"]


def of(array: object, **changes: Any) -> dict[str, Any]:
    wanted = {"command": COMMAND, "seed": "{{seed}}", **changes}
    return spec(array=array, **wanted)


def post(api: APIClient, array: object, *, key: str = "", **changes: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    body = {"spec": of(array, **changes)}
    return api.post("/api/v1/jobs:bulk", body, format="json", headers=headers)


def made(api: APIClient, array: object, **changes: Any) -> JobArray:
    answer = post(api, array, **changes)
    assert answer.status_code == 201, answer.json()
    return JobArray.objects.get(pk=answer.json()["array"])


def documents(array: object, **changes: Any) -> list[Any]:
    return [one.document for one in read_one(of(array, **changes))]


def wrong(array: object, **changes: Any) -> dict[str, str]:
    with pytest.raises(SpecInvalid) as refused:
        read_one(of(array, **changes))
    return {one.field: f"{one.problem} | {one.remedy}" for one in refused.value.problems}


def test_a_grid_has_a_job_for_each_combination() -> None:
    found = documents({"parameters": GRID})
    assert [(one["command"][2], one["seed"]) for one in found] == [
        (f"--lr={lr}", seed) for lr in (0.1, 0.01) for seed in (0, 1, 2)
    ]
    assert [one["name"] for one in found] == [f"digits-{number}" for number in range(1, 7)]
    assert all("array" not in one for one in found)


def test_trials_may_be_listed() -> None:
    trials = [{"lr": 0.1, "seed": 3}, {"lr": "1e-3", "seed": 4}]
    found = documents({"trials": trials})
    assert [(one["command"][2], one["seed"]) for one in found] == [
        ("--lr=0.1", 3),
        ("--lr=1e-3", 4),
    ]


def test_a_value_stands_for_itself_or_within_a_text() -> None:
    (found,) = documents(
        {"trials": [{"lr": 0.5, "seed": 7, "fast": True, "size": "big {{seed}}"}]},
        env={"LR": "{{lr}}", "BOTH": "{{ lr }} of {{size}}", "KEPT": "{lr} {{ }}"},
        labels={"fast": "{{fast}}"},
        elastic={"max_workers": "{{seed}}"},
        priority=5,
    )
    assert found["env"] == {"LR": "0.5", "BOTH": "0.5 of big {{seed}}", "KEPT": "{lr} {{ }}"}
    assert found["labels"] == {"fast": "true"}
    assert (found["elastic"]["max_workers"], found["seed"], found["priority"]) == (7, 7, 5)


@pytest.mark.parametrize(
    ("array", "field", "said"),
    [
        ({}, "array", "has no values"),
        ({"parameters": GRID, "trials": [{"lr": 1, "seed": 1}]}, "array", "both parameters and"),
        ([], "array", "is not a mapping"),
        ({"parameters": {**GRID, "lr": []}}, "array.parameters.lr", "is empty"),
        ({"parameters": {**GRID, "lr": [1, 1.0, 1]}}, "array.parameters.lr", "has 1 twice"),
        ({"parameters": {**GRID, "lr": [None]}}, "array.parameters.lr[0]", "is no value"),
        ({"parameters": {**GRID, "lr": [1e16]}}, "array.parameters.lr[0]", "out of bounds"),
        ({"parameters": {**GRID, "lr": ["a" * 201]}}, "array.parameters.lr[0]", "is too long"),
        ({"parameters": {**GRID, "lr": "5..1"}}, "array.parameters.lr", "empty range"),
        ({"parameters": {**GRID, "lr": "0..5..0"}}, "array.parameters.lr", "empty range"),
        ({"parameters": {**GRID, "lr": "0..1000"}}, "array.parameters.lr", "has too many numbers"),
        ({"parameters": {**GRID, "lr": "all"}}, "array.parameters.lr", "is no range"),
        ({"parameters": {**GRID, "lr": 5}}, "array.parameters.lr", "is not a list"),
        ({"parameters": {"lr": "1..400", "seed": "0..2"}}, "array.parameters", "makes 1200 jobs"),
        ({"parameters": {**GRID, "5": [1]}}, "array.parameters", "not a parameter's name"),
        ({"parameters": {f"a{n}": [n] for n in range(21)}}, "array.parameters", "at most 20"),
        ({"trials": []}, "array.trials", "is empty"),
        ({"trials": [{}]}, "array.trials", "without values"),
        ({"trials": [{"lr": 1, "seed": 1}, {"lr": 1}]}, "array.trials", "in entry 1"),
        ({"trials": [{"lr": 1, "seed": 1}] * 2}, "array.trials", "entry 1 twice"),
        ({"parameters": GRID, "max_running": 0}, "array.max_running", "is below 1"),
        ({"parameters": GRID, "max_runing": 1}, "array.max_runing", "Did you mean"),
        ({"parameters": {"lr": [1]}}, "array", "has no parameter seed"),
        ({"parameters": {**GRID, "size": [1]}}, "array", "size that the spec uses nowhere"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(array: object, field: str, said: str) -> None:
    found = wrong(array)
    assert said in found[field]


def test_places_of_values_are_bounded_and_none_of_them_is_in_the_name() -> None:
    many = {"command": ["a", *["{{lr}}"] * 101]}
    assert "in 102 places" in wrong({"parameters": GRID}, **many)["array"]
    first, *_ = documents({"parameters": GRID}, name="{{lr}}")
    assert first["name"] == "{{lr}}-1"


def test_a_large_spec_is_for_few_jobs_and_is_never_copied_for_many(api: APIClient) -> None:
    texts = {"command": ["{{lr}}" + "a" * 20_000]}
    entries = {"seed": ["{{seed}}", *[0] * 10_000]}  # a list that each trial would have of its own
    for large in (texts, entries):
        found = wrong({"parameters": {"lr": [1], "seed": "1..1000"}}, **large)
        assert found["array"].startswith("makes 1000 jobs of a spec of ")
        assert found["array"].endswith("bytes times jobs, are allowed at once.")
    few = documents({"parameters": {"lr": [1], "seed": "1..700"}}, **texts)
    assert len(few) == 700
    spec_of_many = {**spec(), **entries}
    changes: list[Any] = [{"seed[0]": number} for number in range(1000)]
    body = {"spec": spec_of_many, "changes": changes}
    answer = api.post("/api/v1/jobs:bulk", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("spec makes 1000 jobs of a spec of ")


def test_a_range_includes_both_ends_and_may_have_a_step() -> None:
    found = documents({"parameters": {"lr": [1], "seed": "-4..10..5"}})
    assert [one["seed"] for one in found] == [-4, 1, 6]


def test_an_array_is_stored_with_its_jobs_in_order(api: APIClient) -> None:
    array = made(api, {"parameters": GRID, "max_running": 2})
    assert (array.name, array.parameters, array.trials, array.max_running) == (
        *("digits", ["lr", "seed"], 6),
        2,
    )
    jobs = list(Job.objects.order_by("submitted_at"))
    assert [job.name for job in jobs] == [f"digits-{number}" for number in range(1, 7)]
    assert {(job.array_id, job.array_limit) for job in jobs} == {(array.pk, 2)}
    assert jobs[5].trial == {"number": 6, "values": {"lr": 0.01, "seed": 2}}
    assert jobs[5].resolved_spec["seed"] == 2
    shown = api.get(f"/api/v1/jobs/{jobs[5].id}").json()
    assert (shown["array"], shown["trial"]) == (array.pk, {**jobs[5].trial, "is_swept": False})


def test_as_many_statements_for_many_trials_as_for_few(api: APIClient) -> None:
    def statements(last: int, name: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            made(api, {"parameters": {"lr": [1], "seed": f"1..{last}"}}, name=name)
        return len(queries)

    statements(1, "warm")
    assert statements(60, "many") == statements(2, "few")


def test_the_same_key_makes_no_second_array(api: APIClient) -> None:
    first = post(api, {"parameters": GRID}, key="a")
    again = post(api, {"parameters": GRID}, key="a")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["items"] == first.json()["items"]
    assert again.json()["array"] == first.json()["array"]
    assert (JobArray.objects.count(), Job.objects.count()) == (1, 6)
    other = post(api, {"parameters": {**GRID, "lr": [5]}}, key="a")
    assert (other.status_code, JobArray.objects.count()) == (409, 1)


def test_what_all_trials_have_wrong_is_told_once_and_nothing_is_made(api: APIClient) -> None:
    answer = post(api, {"parameters": GRID}, elastic={"min_workers": 99, "max_workers": 99})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["details"]] == ["elastic.min_workers"]
    assert answer.json()["message"].startswith("6 of 6 jobs are refused. elastic.min_workers")
    assert not Job.objects.exists()
    assert not JobArray.objects.exists()


def test_one_job_has_no_array(api: APIClient) -> None:
    answer = api.post("/api/v1/jobs", of({"parameters": GRID}), format="json")
    assert answer.status_code == 422
    (problem,) = answer.json()["details"]
    assert problem["field"] == "array"
    assert "jobs:bulk" in problem["remedy"]


def test_a_check_tells_how_many_trials_there_would_be(api: APIClient) -> None:
    url = "/api/v1/jobs:validate"
    found = api.post(url, of({"parameters": GRID}), format="json").json()
    assert (found["trials"], found["problems"]) == (6, [])
    assert found["resolved_spec"]["name"] == "digits-1"
    found = api.post(url, of({"parameters": {}}), format="json").json()
    assert (found["trials"], found["problems"][0]["field"]) == (0, "array.parameters")
    assert api.post(url, spec(), format="json").json()["trials"] == 0
    assert not Job.objects.exists()


def test_a_list_of_jobs_has_those_of_an_array(api: APIClient, submit: SubmitJob) -> None:
    submit(name="alone")
    array = made(api, {"parameters": GRID})
    for word in (array.pk, "digits"):
        found = api.get("/api/v1/jobs", {"array": word, "count": True}).json()
        assert found["total"] == 6
        assert {one["array"] for one in found["items"]} == {array.pk}
    assert api.get("/api/v1/jobs", {"array": "alone"}).json()["items"] == []


def test_arrays_are_listed_page_by_page_and_told_apart_by_team(
    api: APIClient, foreign_api: APIClient
) -> None:
    arrays = [made(api, {"parameters": GRID}, name=name) for name in ("a", "b", "c")]
    Job.objects.filter(name="c-1").update(state=JobState.COMPLETED)
    page = api.get(URL, {"limit": 2}).json()
    rest = api.get(URL, {"limit": 2, "cursor": page["next_cursor"]}).json()
    found = [*page["items"], *rest["items"]]
    assert [one["id"] for one in found] == [one.pk for one in reversed(arrays)]
    assert found[0]["states"] == {"queued": 5, "completed": 1}
    assert (rest["next_cursor"], found[0]["may_change"], found[0]["team"]) == (None, True, "vision")
    assert [one["name"] for one in api.get(URL, {"name": "b"}).json()["items"]] == ["b"]
    assert api.get(f"{URL}/{arrays[0].pk}").json() == found[2]
    assert foreign_api.get(URL).json()["items"] == []
    assert foreign_api.get(f"{URL}/{arrays[0].pk}").status_code == 404
    assert api.get(URL, {"cursor": "nowhere"}).status_code == 400


def test_all_jobs_of_an_array_are_paused_resumed_and_cancelled(api: APIClient) -> None:
    array = made(api, {"parameters": {"lr": [1], "seed": "0..3"}})
    runs, over, *_ = jobs = list(Job.objects.order_by("submitted_at"))
    run(runs, workers=1)
    Job.objects.filter(pk=over.pk).update(state=JobState.COMPLETED)

    def told(verb: str) -> Any:
        answer = api.post(f"{URL}/{array.pk}/{verb}", {"reason": "enough"}, format="json")
        assert answer.status_code == 202, answer.json()
        return answer.json()

    paused = told("pause")
    assert paused["states"] == {"stopping": 1, "completed": 1, "paused": 2}
    assert set(paused["jobs"]) == {job.pk for job in jobs} - {over.pk}
    resumed = told("resume")
    assert resumed["states"] == {"stopping": 1, "completed": 1, "queued": 2}
    assert Job.objects.get(pk=runs.pk).ends_as == "queued"
    assert told("cancel")["states"] == {"stopping": 1, "completed": 1, "cancelled": 2}
    assert Job.objects.get(pk=runs.pk).ends_as == "cancelled"
    assert told("cancel")["jobs"] == []
    entry = AuditEntry.objects.filter(operation="pause_array").get()
    assert entry.after["paused"] == "enough"


def test_as_many_statements_for_many_stopping_jobs_as_for_few(api: APIClient) -> None:
    array = made(api, {"parameters": {"lr": [1], "seed": "1..20"}})

    def statements(jobs: int) -> int:
        Job.objects.update(state=JobState.CANCELLED, ends_as="")
        some = Job.objects.filter(trial__number__lte=jobs)
        some.update(state=JobState.STOPPING, ends_as=JobState.PAUSED)
        with CaptureQueriesContext(connection) as queries:
            answer = api.post(f"{URL}/{array.pk}/cancel", {}, format="json")
        assert len(answer.json()["jobs"]) == jobs
        return len(queries)

    statements(1)
    assert statements(20) == statements(2)
    assert Event.objects.filter(kind="stop_requested").count() == 23


def test_who_has_used_up_a_limit_is_not_resumed_with_the_others(api: APIClient) -> None:
    array = made(api, {"parameters": GRID}, max_duration="1h")
    Job.objects.update(state=JobState.PAUSED)
    Job.objects.filter(name="digits-2").update(held_seconds=3600.0)
    answer = api.post(f"{URL}/{array.pk}/resume", {}, format="json").json()
    assert answer["states"] == {"queued": 5, "paused": 1}


def test_a_member_steers_no_array_of_another(api: APIClient, vision: Team) -> None:
    array = made(api, {"parameters": GRID})
    person = User.objects.create_user("ada")
    Membership.objects.create(team=vision, user=person, role=Membership.Role.MEMBER)
    member = APIClient()
    member.force_login(person)
    assert member.get(f"{URL}/{array.pk}").json()["may_change"] is False
    assert member.post(f"{URL}/{array.pk}/cancel", {}, format="json").status_code == 403
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}
    own = JobArray.objects.get(pk=post(member, {"parameters": GRID}, name="own").json()["array"])
    assert member.post(f"{URL}/{own.pk}/cancel", {}, format="json").status_code == 202


def test_an_array_goes_with_its_last_job(api: APIClient) -> None:
    made(api, {"parameters": {"lr": [1], "seed": "0..1"}})
    kept = made(api, {"parameters": {"lr": [1], "seed": "0..1"}}, name="kept")
    Job.objects.filter(name__in=["digits-1", "digits-2", "kept-1"]).update(state=JobState.COMPLETED)
    for job in Job.objects.filter(state=JobState.COMPLETED):
        job_deletion.delete(job_id=job.pk)
    periods = JobRetention(days=dict.fromkeys(KeptPart, 0), history=None, jobs=None)
    retention.delete_old(periods, erase=lambda rows: rows.delete()[0], has_time=lambda: True)
    assert [array.pk for array in JobArray.objects.all()] == [kept.pk]
    assert api.get(f"{URL}/{kept.pk}").json()["states"] == {"queued": 1}
