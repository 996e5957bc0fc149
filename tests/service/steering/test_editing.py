"""Is PATCH /jobs/{id} as promised, and /rerun?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.lifecycle import FINAL, LIVE
from jobs.models import Event, Job
from jobs.spec.changes import CHANGEABLE
from tests.service.conftest import SubmitJob, run
from tests.service.webhooks.conftest import add

TOMORROW = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")

# what is sent -> where it is read in the resolved spec, and as what
ACCEPTED: dict[str, tuple[dict[str, Any], str, Any]] = {
    "more workers": ({"elastic": {"max_workers": 6}}, "elastic.max_workers", 6),
    "a smallest size": ({"elastic": {"min_workers": 2}}, "elastic.min_workers", 2),
    "listed sizes": ({"elastic": {"allowed_workers": [1, 4]}}, "elastic.allowed_workers", [1, 4]),
    "a step": ({"elastic": {"worker_step": 3}}, "elastic.worker_step", 3),
    "a size to start with": (
        {"elastic": {"requested_workers": 2}},
        "elastic.requested_workers",
        2,
    ),
    "a pause between changes": ({"elastic": {"min_interval": "5m"}}, "elastic.min_interval", "5m"),
    "larger batches": (
        {"batch": {"global_batch_size": {"max": 1024}}},
        "batch.global_batch_size.max",
        1024,
    ),
    "smaller batches": (
        {"batch": {"global_batch_size": {"min": 32}}},
        "batch.global_batch_size.min",
        32,
    ),
    "batches of eights": (
        {"batch": {"global_batch_size": {"multiple_of": 8}}},
        "batch.global_batch_size.multiple_of",
        8,
    ),
    "a priority": ({"priority": 60}, "priority", 60),
    "the usual priority": ({"priority": None}, "priority", 50),
    "preemptibility": ({"preemptibility": "preemptible"}, "preemptibility", "preemptible"),
    "a deadline": ({"deadline": TOMORROW}, "deadline", TOMORROW),
    "for how long it may hold GPUs": ({"max_duration": "12h"}, "max_duration", "12h"),
    "how many GPU-hours it may hold": ({"budget_gpu_hours": 2.5}, "budget_gpu_hours", 2.5),
    "what becomes of it when idle": (
        {"idle": {"after": "30m"}},
        "idle",
        {"after": "30m", "then": "warn"},
    ),
    "who is told": (
        {"notify": {"to": ["alarms"], "on": ["idle"]}},
        "notify",
        {"to": ["alarms"], "on": ["idle"]},
    ),
    "restarts": ({"retry": {"max_restarts": 7}}, "retry.max_restarts", 7),
    "restarts by their short name": ({"max_restarts": 7}, "retry.max_restarts", 7),
    "a label": ({"labels": {"run": "7"}}, "labels", {"run": "7"}),
}


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_a_change_is_kept_told_and_counted(
    api: APIClient, submit: SubmitJob, sentence: str
) -> None:
    job = submit(priority=40)
    add(job.team, "https://example.com/hook", name="alarms")
    sent, field, value = ACCEPTED[sentence]
    answer = api.patch(address(job), sent, format="json")
    assert answer.status_code == 200, answer.json()
    assert inside(answer.json()["resolved_spec"], field) == value
    assert answer.json()["version"] == 2
    job.refresh_from_db()
    assert (job.priority, job.labels) == (
        job.resolved_spec["priority"],
        job.resolved_spec["labels"],
    )
    event = Event.objects.get(job=job, kind="terms_changed")
    assert event.message.startswith(f"Changed by vision/ci: {field}")
    assert event.data["version"] == 2


@pytest.mark.parametrize("state", sorted(LIVE))
def test_a_job_is_changed_as_long_as_it_lives(api: APIClient, job: Job, state: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    assert api.patch(address(job), {"priority": 60}, format="json").json()["priority"] == 60


def test_each_changeable_field_is_tried_above() -> None:
    """Pools have a test of their own, which takes several of them."""
    assert {field for _, field, _ in ACCEPTED.values()} == set(CHANGEABLE) - {"pool", "pools"}


def test_several_fields_are_changed_at_once_and_the_event_names_them(
    api: APIClient, job: Job
) -> None:
    sent = {"elastic": {"max_workers": 6}, "priority": 60, "labels": {"a": "b"}}
    assert api.patch(address(job), sent, format="json").status_code == 200
    event = Event.objects.get(job=job, kind="terms_changed")
    assert event.message == (
        "Changed by vision/ci: elastic.max_workers from 4 to 6, priority from 50 to 60,"
        " labels.a from none to b."
    )
    assert event.data["changes"]["priority"] == {"from": 50, "to": 60}


def test_an_event_tells_of_so_much_at_most(api: APIClient, job: Job) -> None:
    labels = {f"label-{number:02}": "x" * 200 for number in range(60)}
    assert api.patch(address(job), {"labels": labels}, format="json").status_code == 200
    event = Event.objects.get(job=job, kind="terms_changed")
    assert event.message.endswith(f" from none to {'x' * 59}…, and 10 more.")
    assert event.data["changes"]["labels.label-00"] == {"from": None, "to": "x" * 59 + "…"}
    assert len(event.data["changes"]) == 50


def test_a_label_goes_and_the_others_stay(api: APIClient, submit: SubmitJob) -> None:
    job = submit(labels={"a": "1", "b": "2"})
    answer = api.patch(address(job), {"labels": {"a": None, "c": "3"}}, format="json")
    assert answer.json()["labels"] == {"b": "2", "c": "3"}


@pytest.mark.parametrize("sent", [{}, {"priority": 50}, {"elastic": {}}, {"deadline": None}])
def test_what_changes_nothing_is_no_change(api: APIClient, job: Job, sent: dict[str, Any]) -> None:
    answer = api.patch(address(job), sent, format="json")
    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert not Event.objects.filter(job=job, kind="terms_changed").exists()


def test_a_change_takes_back_that_the_job_can_never_start(api: APIClient, job: Job) -> None:
    """Where few may run, one that can never start stands behind all others of its team."""
    said = {"action": "wait", "reason": "exceeds_limit"}
    rows = Job.objects.filter(pk=job.pk)
    rows.update(reason="exceeds_limit", message="Too large.", explanation=said)
    assert api.patch(address(job), {"priority": 60}, format="json").status_code == 200
    job.refresh_from_db()
    assert (job.reason, job.explanation) == ("pending_evaluation", {})
    rows.update(reason="team_job_limit", explanation=said)
    api.patch(address(job), {"priority": 61}, format="json")
    job.refresh_from_db()
    assert (job.reason, job.explanation) == ("team_job_limit", {})


# what is sent -> the code of the refusal, and the field that it names
REFUSED: dict[str, tuple[Any, str, str]] = {
    "no mapping": ([1], "invalid_spec", ""),
    "a field that is none": ({"wokers": 2}, "invalid_spec", "wokers"),
    "a bound": ({"priority": 101}, "invalid_spec", "priority"),
    "a type": ({"priority": "high"}, "invalid_spec", "priority"),
    "a range upside down": ({"elastic": {"min_workers": 5}}, "invalid_spec", "elastic.min_workers"),
    "more than the team may have": (
        {"elastic": {"min_workers": 7, "max_workers": 8}},
        "exceeds_limit",
        "elastic.min_workers",
    ),
    "a deadline that has passed": (
        {"deadline": "2020-01-01T00:00:00Z"},
        "invalid_spec",
        "deadline",
    ),
    "batches without the base": (
        {"batch": {"global_batch_size": {"min": 128}}},
        "invalid_spec",
        "batch.global_batch_size.base",
    ),
    "the base": (
        {"batch": {"global_batch_size": {"base": 128}}},
        "not_changeable",
        "batch.global_batch_size.base",
    ),
    "the command": ({"command": ["sh"]}, "not_changeable", "command"),
    "a variable": ({"env": {"A": "1"}}, "not_changeable", "env.A"),
    "the name": ({"name": "other"}, "not_changeable", "name"),
    "another team": ({"team": "language"}, "not_changeable", "team"),
    "the mode": ({"elastic": {"mode": "fixed"}}, "not_changeable", "elastic.mode"),
    "a part that is no mapping": ({"elastic": 4}, "invalid_spec", "elastic"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused_and_nothing_changes(
    api: APIClient, job: Job, sentence: str
) -> None:
    sent, code, field = REFUSED[sentence]
    answer = api.patch(
        address(job), {"priority": 60} | sent if isinstance(sent, dict) else sent, format="json"
    )
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.json()
    assert field in [detail["field"] for detail in answer.json()["details"]]
    job.refresh_from_db()
    assert (job.version, job.priority) == (1, 50)


def test_what_was_wrong_before_holds_no_change_up(api: APIClient, job: Job) -> None:
    job.resolved_spec["deadline"] = "2020-01-01T00:00:00Z"
    job.save()
    assert api.patch(address(job), {"priority": 60}, format="json").status_code == 200


def test_of_two_who_saw_the_same_version_one_is_refused(api: APIClient, job: Job) -> None:
    seen = {"HTTP_IF_MATCH": '"1"'}
    assert api.patch(address(job), {"priority": 60}, format="json", **seen).status_code == 200
    answer = api.patch(address(job), {"priority": 70}, format="json", **seen)
    assert (answer.status_code, answer.json()["code"]) == (412, "changed_meanwhile")
    assert "version 2 now, not 1" in answer.json()["message"]


@pytest.mark.parametrize("text", ["", "abc", "-1", "1.5", "*", "9" * 10])
def test_a_version_is_a_number(api: APIClient, job: Job, text: str) -> None:
    answer = api.patch(address(job), {"priority": 60}, format="json", HTTP_IF_MATCH=text)
    assert answer.status_code == 400


@pytest.mark.parametrize("state", sorted(FINAL))
def test_a_job_that_has_ended_is_not_changed(api: APIClient, job: Job, state: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    answer = api.patch(address(job), {"priority": 60}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "illegal_transition")


def test_a_job_of_a_fixed_size_tells_when_its_new_size_counts(
    api: APIClient, submit: SubmitJob
) -> None:
    job = submit(elastic={"min_workers": 1, "max_workers": 4, "mode": "fixed"})
    run(job, workers=2)
    notes = api.patch(address(job), {"elastic": {"max_workers": 1}}, format="json").json()["notes"]
    assert notes == ["Its mode is fixed: it keeps its workers and its batch until it starts again."]


def test_a_stored_spec_that_nobody_can_read_is_not_changed(api: APIClient, job: Job) -> None:
    job.resolved_spec["seed"] = "no number"
    job.save()
    answer = api.patch(address(job), {"priority": 60}, format="json")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "seed")


def test_another_teams_job_is_not_found(foreign_api: APIClient, job: Job) -> None:
    assert foreign_api.patch(address(job), {"priority": 60}, format="json").status_code == 404
    assert foreign_api.post(f"{address(job)}/rerun", {}, format="json").status_code == 404


@pytest.mark.parametrize("state", sorted(FINAL))
def test_a_job_runs_again_as_it_was_in_the_end_with_changes(
    api: APIClient, job: Job, state: str
) -> None:
    api.patch(address(job), {"priority": 60}, format="json")
    Job.objects.filter(pk=job.pk).update(state=state)
    sent = {"env": {"LR": "0.1"}, "elastic": {"max_workers": 2}}
    answer = api.post(f"{address(job)}/rerun", sent, format="json")
    assert answer.status_code == 201, answer.json()
    again = Job.objects.get(pk=answer.json()["id"])
    assert again.pk != job.pk
    job.refresh_from_db()
    job.resolved_spec["env"] = {"LR": "0.1"}
    job.resolved_spec["elastic"]["max_workers"] = 2
    assert again.resolved_spec == job.resolved_spec
    assert (again.priority, again.version) == (60, 1)


def test_while_a_job_lives_another_run_needs_another_name(api: APIClient, job: Job) -> None:
    answer = api.post(f"{address(job)}/rerun", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "name_in_use")
    answer = api.post(f"{address(job)}/rerun", {"name": "digits-2"}, format="json")
    assert (answer.status_code, answer.json()["name"]) == (201, "digits-2")


def test_a_repeated_rerun_is_one_job(api: APIClient, job: Job) -> None:
    key = {"HTTP_IDEMPOTENCY_KEY": "again"}
    first = api.post(f"{address(job)}/rerun", {"name": "a"}, format="json", **key)
    second = api.post(f"{address(job)}/rerun", {"name": "a"}, format="json", **key)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


def address(job: Job) -> str:
    return f"/api/v1/jobs/{job.id}"


def inside(document: Any, field: str) -> Any:
    for name in field.split("."):
        document = document[name]
    return document
