"""Schedules over REST: add, read, change, pause, resume, run, delete."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from control_plane import tasks
from control_plane.database.batch_deletion import Eraser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from schedules import changing, retention
from schedules.models import RunState, ScheduleRun, TeamSchedule
from schedules.rounds import recording
from storage.models import CodeSnapshot
from tenancy.models import AuditEntry, Team

from jobs.commands.removal import team_deletion
from jobs.lifecycle import JobState
from jobs.models import Job, JobTemplate
from tests.service.at_once import ask_at_once
from tests.service.conftest import spec
from tests.service.schedules.conftest import PATH, AddSchedule, go_when_due, make_due, wanted

ONE = f"{PATH}/nightly"
STATEMENTS_OF_A_LIST = 3


def change(api: APIClient, version: int, **changes: Any) -> Any:
    return api.patch(ONE, changes, format="json", HTTP_IF_MATCH=str(version))


def test_one_is_added_and_read(api: APIClient) -> None:
    answer = api.post(PATH, wanted(time_zone="Europe/Berlin"), format="json")
    assert answer.status_code == 201, answer.json()
    made = answer.json()
    assert (made["overlap"], made["catch_up"], made["start_within"]) == ("skip", "last", 21600)
    assert (made["is_paused"], made["failures"], made["version"]) == (False, 0, 1)
    assert (made["holder"], made["created_by"], made["may_change"]) == ("vision/ci",) * 2 + (True,)
    assert datetime.fromisoformat(made["next_at"]) > timezone.now()
    assert made["last_run"] is None
    shown = api.get(ONE).json()
    assert shown["spec"]["team"] == "vision"
    assert shown["runs"] == []
    (listed,) = api.get(PATH).json()["items"]
    assert "spec" not in listed
    assert listed["name"] == "nightly"


def test_its_expression_is_kept_in_one_line(api: APIClient) -> None:
    told = api.post(PATH, wanted(cron=" 0\t2\n*  * * "), format="json").json()
    assert told["cron"] == "0 2 * * *"


def test_one_is_added_in_yaml(api: APIClient) -> None:
    text = "name: nightly\ncron: '0 2 * * *'\nspec: {name: a, command: [python, train.py]}\n"
    answer = api.post(PATH, text, content_type="application/yaml")
    assert answer.status_code == 201, answer.json()


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"cron": "* * * * *"}, 400, ""),
        ({"cron": "0 2"}, 400, ""),
        ({"cron": "0" * 101}, 400, "cron"),
        ({"time_zone": "Mars"}, 400, ""),
        ({"overlap": "perhaps"}, 400, "overlap"),
        ({"start_within": 299}, 400, "start_within"),
        ({"start_within": 86401}, 400, "start_within"),
        ({"name": "Nightly run"}, 400, "name"),
        ({"name": "n" * 41}, 400, "name"),
        ({"spec": []}, 422, ""),
        ({"spec": spec(command=[])}, 422, "command"),
        ({"spec": spec(name="a" * 56)}, 422, "name"),
        ({"spec": spec(deadline="2030-01-01T00:00:00Z")}, 422, "deadline"),
        ({"spec": spec(team="language")}, 422, "team"),
        ({"spec": spec(project="language")}, 422, "team"),
        ({"spec": spec(array={"parameters": {"lr": []}})}, 422, "array"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    api: APIClient, changes: dict[str, Any], code: int, field: str
) -> None:
    answer = api.post(PATH, wanted(**changes), format="json")
    assert answer.status_code == code, answer.json()
    told = answer.json()
    assert told["message"]
    if field:
        assert told["details"][0]["field"].startswith(field)
    assert not TeamSchedule.objects.exists()


def test_a_name_is_of_one_schedule_of_the_team(add: AddSchedule, api: APIClient) -> None:
    add()
    answer = api.post(PATH, wanted(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "name_in_use")


@pytest.mark.django_db(transaction=True)
def test_of_two_who_add_the_same_name_at_once_one_does(api: APIClient) -> None:
    def ask() -> int:
        return api.post(PATH, wanted(), format="json").status_code

    assert ask_at_once(ask, ask) == (201, 409)


def test_a_team_has_a_bounded_number(
    add: AddSchedule, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "MOST_OF_TEAM", 2)
    add(name="a")
    add(name="b")
    answer = api.post(PATH, wanted(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_schedules")


def test_statements_of_a_list_are_counted(add: AddSchedule, api: APIClient) -> None:
    for number in range(3):
        go_when_due(add(name=f"a{number}", spec=spec(name=f"a{number}")))
    with CaptureQueriesContext(connection) as captured:
        answer = api.get(PATH)
    of_schedules = [one for one in captured if "schedules_" in one["sql"]]
    assert len(of_schedules) == STATEMENTS_OF_A_LIST - 1
    assert [one["last_run"]["state"] for one in answer.json()["items"]] == ["submitted"] * 3


# Changing.


def test_other_fields_leave_the_next_time_as_it_is(add: AddSchedule, api: APIClient) -> None:
    schedule = add()
    overdue = timezone.now() - timedelta(minutes=3)
    make_due(schedule, overdue)
    answer = change(api, 1, overlap="allow", start_within=600, spec=spec(seed=3))
    assert answer.status_code == 200, answer.json()
    assert answer.json()["version"] == 2
    schedule.refresh_from_db()
    assert schedule.next_at == overdue
    assert change(api, 2, cron=schedule.cron, time_zone="UTC").status_code == 200
    schedule.refresh_from_db()
    assert schedule.next_at == overdue


def test_another_cron_or_zone_is_planned_anew(add: AddSchedule, api: APIClient) -> None:
    schedule = add()
    before = schedule.next_at
    told = change(api, 1, cron="0 3 * * *").json()
    assert datetime.fromisoformat(told["next_at"]).astimezone(UTC).hour == 3
    told = change(api, 2, time_zone="Asia/Kolkata").json()
    moment = datetime.fromisoformat(told["next_at"]).astimezone(UTC)
    assert (moment.hour, moment.minute) == (21, 30)
    assert moment > timezone.now()
    schedule.refresh_from_db()
    assert schedule.next_at != before


def test_a_paused_one_stays_paused_when_its_times_are_changed(
    add: AddSchedule, api: APIClient
) -> None:
    add()
    api.post(f"{ONE}/pause")
    told = change(api, 2, cron="0 3 * * *").json()
    assert (told["is_paused"], told["next_at"]) == (True, None)


def test_a_change_needs_the_version_that_was_read(add: AddSchedule, api: APIClient) -> None:
    add()
    assert change(api, 1, cron="0 3 * * *").status_code == 200
    answer = change(api, 1, cron="0 4 * * *")
    assert (answer.status_code, answer.json()["code"]) == (412, "changed_meanwhile")
    answer = api.patch(ONE, {"cron": "0 4 * * *"}, format="json")
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == "If-Match"
    assert TeamSchedule.objects.get().cron == "0 3 * * *"


def test_a_change_of_nothing_makes_no_version(add: AddSchedule, api: APIClient) -> None:
    add()
    assert change(api, 1).json()["version"] == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_refused(add: AddSchedule, api: APIClient) -> None:
    add()
    codes = ask_at_once(
        lambda: change(api, 1, cron="0 3 * * *").status_code,
        lambda: change(api, 1, cron="0 4 * * *").status_code,
    )
    assert codes == (200, 412)


def test_a_spec_that_would_be_refused_changes_nothing(add: AddSchedule, api: APIClient) -> None:
    add()
    answer = change(api, 1, spec=spec(command=[]), cron="0 3 * * *")
    assert answer.status_code == 422
    assert TeamSchedule.objects.get().cron == "0 2 * * *"


def test_resuming_plans_anew_and_forgets_failures(add: AddSchedule, api: APIClient) -> None:
    schedule = add()
    api.post(f"{ONE}/pause")
    TeamSchedule.objects.update(failures=3)
    told = api.post(f"{ONE}/resume").json()
    assert (told["is_paused"], told["failures"], told["paused_because"]) == (False, 0, "")
    assert datetime.fromisoformat(told["next_at"]) > timezone.now()
    version = told["version"]
    assert api.post(f"{ONE}/resume").json()["version"] == version
    assert schedule.version == 1


def test_all_of_it_is_in_the_audit_log(add: AddSchedule, api: APIClient) -> None:
    add()
    change(api, 1, cron="0 3 * * *")
    api.post(f"{ONE}/pause")
    api.post(f"{ONE}/resume")
    api.post(f"{ONE}/run")
    api.delete(ONE)
    entries = AuditEntry.objects.order_by("pk")
    told = {one.operation: one for one in entries}
    assert list(told) == [
        *("add_schedule", "change_schedule", "pause_schedule"),
        *("resume_schedule", "run_schedule", "delete_schedule"),
    ]
    assert {one.target.split(":")[0] for one in entries} >= {"teams/vision/schedules/nightly"}
    assert told["change_schedule"].before["cron"] == "0 2 * * *"
    assert told["change_schedule"].after["cron"] == "0 3 * * *"


# Running.


def test_one_is_run_now_beside_its_times(add: AddSchedule, api: APIClient) -> None:
    schedule = add()
    before = schedule.next_at
    answer = api.post(f"{ONE}/run")
    assert answer.status_code == 201, answer.json()
    run, job = answer.json(), Job.objects.get()
    assert (run["state"], run["asked_by"]) == ("submitted", "vision/ci")
    assert run["jobs"] == [{"id": job.id, "name": job.name}]
    assert job.name.startswith("digits-2")
    schedule.refresh_from_db()
    assert schedule.next_at == before
    told = api.get(f"/api/v1/jobs/{job.id}").json()["schedule"]
    assert told == {"id": schedule.id, "name": "nightly", "due_at": run["due_at"]}


def test_a_paused_one_is_run_as_well(add: AddSchedule, api: APIClient) -> None:
    add()
    api.post(f"{ONE}/pause")
    assert api.post(f"{ONE}/run").status_code == 201


def test_the_same_key_answers_with_the_same_run(add: AddSchedule, api: APIClient) -> None:
    add(overlap="allow")
    first = api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="one")
    again = api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="one")
    other = api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="two")
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 201)
    assert first.json() == again.json() != other.json()
    assert Job.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_same_key_at_once_is_one_run(add: AddSchedule, api: APIClient) -> None:
    add(overlap="allow")

    def ask() -> int:
        return api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="one").status_code

    assert ask_at_once(ask, ask) == (201, 200)
    assert Job.objects.count() == 1


@pytest.mark.parametrize("key", ["ß", "a" * 201, "§abc 2026"])
def test_nobody_can_send_a_key_of_ours(add: AddSchedule, api: APIClient, key: str) -> None:
    add()
    answer = api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY=key)
    assert answer.status_code == 400
    assert (
        api.post("/api/v1/jobs", spec(), format="json", HTTP_IDEMPOTENCY_KEY=key).status_code == 400
    )


def test_a_run_that_is_refused_leaves_nothing(
    add: AddSchedule, api: APIClient, vision: Team
) -> None:
    add()
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=0)
    answer = api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="one")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_queued_jobs")
    assert not ScheduleRun.objects.exists()
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=5)
    assert api.post(f"{ONE}/run", HTTP_IDEMPOTENCY_KEY="one").status_code == 201


def test_one_whose_job_lives_is_not_run_beside_it(add: AddSchedule, api: APIClient) -> None:
    add()
    api.post(f"{ONE}/run")
    answer = api.post(f"{ONE}/run")
    assert (answer.status_code, answer.json()["code"]) == (409, "still_runs")


# Jobs of a schedule.


def test_jobs_are_found_by_their_schedule(add: AddSchedule, api: APIClient, submit: Any) -> None:
    submit(name="by-hand")
    schedule = add()
    api.post(f"{ONE}/run")
    for word in (schedule.id, "nightly"):
        (found,) = api.get("/api/v1/jobs", {"schedule": word}).json()["items"]
        assert found["schedule"]["id"] == schedule.id
    assert api.get("/api/v1/jobs", {"schedule": "other"}).json()["items"] == []
    by_hand = api.get("/api/v1/jobs", {"search": "by-hand"}).json()["items"][0]
    assert by_hand["schedule"] is None


def test_deleting_one_writes_no_job_however_many_it_submitted(
    add: AddSchedule, api: APIClient
) -> None:
    add(overlap="allow")
    for _ in range(3):
        api.post(f"{ONE}/run")
    with CaptureQueriesContext(connection) as captured:
        assert api.delete(ONE).status_code == 204
    writes = [one["sql"] for one in captured if one["sql"].startswith(("UPDATE", "DELETE"))]
    assert not [one for one in writes if "jobs_" in one]
    assert set(Job.objects.values_list("schedule_name", flat=True)) == {"nightly"}
    assert api.get(ONE).status_code == 404
    assert api.get("/api/v1/jobs", {"schedule": "nightly"}).json()["items"]


@pytest.mark.django_db(transaction=True)
def test_deleting_one_while_it_is_run_or_recorded_waits_for_that(
    add: AddSchedule, api: APIClient
) -> None:
    def delete() -> int:
        return api.delete(ONE).status_code

    def run() -> int:
        return api.post(f"{ONE}/run").status_code

    schedule = add()
    assert ask_at_once(run, delete) == (201, 204)
    Job.objects.update(state=JobState.COMPLETED)
    schedule = add()
    assert ask_at_once(delete, run) == (204, 404)
    schedule = add()
    seen = schedule.next_at
    assert seen is not None
    assert ask_at_once(lambda: recording.record(schedule.pk, seen, seen), delete) == (True, 204)
    assert not ScheduleRun.objects.exists()


# What is kept.


def test_runs_are_kept_up_to_a_number_and_for_a_time(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST_OF_ONE", 3)
    schedule, other = add(), add(name="other")
    now = timezone.now()
    ScheduleRun.objects.bulk_create(
        ScheduleRun(schedule=one, due_at=now - timedelta(hours=hour), state=state, try_at=now)
        for one, state in ((schedule, RunState.SUBMITTED), (other, RunState.WAITING))
        for hour in range(6)
    )
    deleted = retention.delete_old(erase=Eraser(seconds=60))
    assert deleted == {"schedule_runs": 3}
    assert ScheduleRun.objects.filter(schedule=schedule).count() == 3
    assert ScheduleRun.objects.filter(schedule=other).count() == 6
    long_ago = now - timedelta(days=401)
    ScheduleRun.objects.filter(schedule=schedule).update(recorded_at=long_ago)
    assert retention.delete_old(erase=Eraser(seconds=60)) == {"schedule_runs": 3}


def test_code_of_a_schedule_stays_young(add: AddSchedule, vision: Team) -> None:
    old = timezone.now() - timedelta(days=2)
    for digest in ("a" * 64, "b" * 64):
        CodeSnapshot.objects.create(
            team=vision, digest=digest, files=1, bytes=1, kept_bytes=1, used_at=old
        )
    schedule = add(spec=spec(code={"digest": "a" * 64}))
    assert schedule.code == "a" * 64
    CodeSnapshot.objects.update(used_at=old)
    retention.keep_code()
    used = dict(CodeSnapshot.objects.values_list("digest", "used_at"))
    assert used["a" * 64] > old
    assert used["b" * 64] == old


def test_a_team_is_deleted_with_its_schedules(
    add: AddSchedule, api: APIClient, vision: Team
) -> None:
    add()
    api.post(f"{ONE}/run")
    Job.objects.update(state=JobState.COMPLETED, finished_at=timezone.now())
    team_deletion.delete_team(vision)
    assert not TeamSchedule.objects.exists()


def test_the_task_submits_what_is_due(add: AddSchedule) -> None:
    make_due(add(), timezone.now() - timedelta(seconds=1))
    tasks.submit_scheduled()
    assert Job.objects.get().schedule_name == "nightly"


def test_a_deadline_that_a_template_brings_is_one_moment_too(api: APIClient, vision: Team) -> None:
    JobTemplate.objects.create(team=vision, name="usual", spec={"deadline": "2099-01-01T00:00:00Z"})
    named = spec(template="usual")
    refused = api.post(PATH, wanted(spec=named), format="json")
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["details"]] == ["deadline"]
    own = wanted(spec={**named, "deadline": None})
    assert api.post(PATH, own, format="json").status_code == 201
