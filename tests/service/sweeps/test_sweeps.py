"""Sweeps over REST: submit, list, show and cancel them."""

from __future__ import annotations

from typing import Any

import pytest
from control_plane.database.batch_deletion import Eraser
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from sweeps import retention
from sweeps.models import Sweep, SweepMark
from tenancy.models import AuditEntry, Membership, Team
from tenancy.models.retention_rule import KeptPart

from jobs.commands import control
from jobs.commands.removal import job_deletion
from jobs.commands.removal import retention as jobs_retention
from jobs.commands.removal.retention_periods import JobRetention
from jobs.models import Job, JobArray, JobTemplate
from jobs.spec import stored_spec
from tests.service.conftest import spec
from tests.service.sweeps.conftest import (
    PATH,
    AddSweep,
    Killed,
    ends,
    go,
    settle,
    states,
    tells,
    trials,
    wanted,
)

STATEMENTS_TO_SHOW = 8


def shown(api: APIClient, sweep: Sweep) -> Any:
    answer = api.get(f"{PATH}/{sweep.pk}")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_a_sweep_is_shown_with_its_trials_rungs_and_the_best(api: APIClient, add: AddSweep) -> None:
    sweep = add()
    for number, loss in ((1, 0.5), (2, None), (3, 0.3)):
        tells(trials(sweep)[number], 1.0, loss=loss)
    go()
    found = shown(api, sweep)
    assert (found["metric"], found["goal"], found["rungs"], found["most"]) == (
        "loss",
        "min",
        [1.0, 3.0],
        9.0,
    )
    assert (found["trials"], found["made"], found["resource"], found["reduction"]) == (
        *(9, 5, "epochs", 3),
    )
    one, two, three, *_ = found["items"]
    assert (one["rung"], one["value"], one["reason"], one["is_best"]) == (
        *(0, 0.5, "paused_at_rung", False),
    )
    assert (two["value"], two["marks"][0]["value"], two["reason"]) == (
        *(None, None, "stopped_by_sweep"),
    )
    assert three["is_best"]
    assert found["best"] == three["id"]
    assert three["marks"][0]["promoted_at"] is not None
    assert three["values"] == trials(sweep)[3].trial["values"]
    curves = api.get(f"{PATH}/{sweep.pk}/curves").json()["items"]
    assert {one["job_id"]: one["values"] for one in curves} == {
        trials(sweep)[number].id: values for number, values in ((1, [0.5]), (2, []), (3, [0.3]))
    }


def test_the_best_of_those_that_trained_to_the_end_is_the_best(
    api: APIClient, add: AddSweep
) -> None:
    sweep = add(trials=2, asha=None)
    for number, loss in ((1, 0.5), (2, 0.6)):
        tells(trials(sweep)[number], 9.0, loss=loss)
        assert shown(api, sweep)["best"] is None or number == 2
        ends(trials(sweep)[number])
    go()
    found = shown(api, sweep)
    assert (found["best"], found["rungs"]) == (trials(sweep)[1].id, [])
    assert found["ended_at"] is not None


def test_all_trials_are_checked_before_any_is_submitted(api: APIClient) -> None:
    document = wanted(parameters={"lr": [1, 2, 3, "many"]}, trials=4)
    document["elastic"] = {"max_workers": "{{lr}}"}
    answer = api.post(PATH, document, format="json")
    assert answer.status_code == 422
    assert "elastic.max_workers" in answer.json()["message"]
    assert not Job.objects.exists()
    assert not JobArray.objects.exists()


def test_the_same_key_begins_it_once(api: APIClient) -> None:
    answers = [
        api.post(PATH, wanted(), format="json", headers={"Idempotency-Key": "one"})
        for _ in range(2)
    ]
    assert [one.status_code for one in answers] == [201, 200]
    assert len({one.json()["id"] for one in answers}) == Sweep.objects.count() == 1
    assert JobArray.objects.count() == 1


def test_the_same_key_finds_it_when_some_of_its_trials_are_deleted(api: APIClient) -> None:
    def begun() -> Any:
        return api.post(PATH, wanted(), format="json", headers={"Idempotency-Key": "one"})

    sweep = Sweep.objects.get(pk=begun().json()["id"])
    first, *others = sorted(trials(sweep).values(), key=lambda job: job.name)
    for jobs, code in (([first], 200), (others, 409)):
        for job in jobs:
            ends(job)
            job_deletion.delete(job_id=job.id)
        answer = begun()
        assert answer.status_code == code, answer.json()
    assert answer.json()["code"] == "idempotency_conflict"
    assert "jobs are deleted" in answer.json()["message"]


def test_a_template_counts_as_it_was_when_the_sweep_was_submitted(
    api: APIClient, vision: Team
) -> None:
    said = {"preemptibility": "non-preemptible", "env": {"STAGE": "{{lr}}"}}
    JobTemplate.objects.create(team=vision, name="large", spec=said, changed_by="ada")
    document = {**wanted(), "template": "large"}
    checked = api.post("/api/v1/jobs:validate", document, format="json").json()
    assert checked["resolved_spec"]["preemptibility"] == "non-preemptible"
    answer = api.post(PATH, document, format="json")
    assert answer.status_code == 201, answer.json()
    sweep = Sweep.objects.get(pk=answer.json()["id"])
    JobTemplate.objects.all().delete()
    ends(trials(sweep)[1])
    go()
    assert len(trials(sweep)) == 4
    for job in trials(sweep).values():
        read = stored_spec.read(job.resolved_spec).spec
        assert read.preemptibility == "non-preemptible"
        assert read.env["STAGE"] == str(job.trial["values"]["lr"]) == read.env["LR"]
        assert job.template == {"team": "vision", "name": "large", "version": 1}


def test_a_sweep_is_sent_to_the_place_for_sweeps(api: APIClient) -> None:
    for path, body in (
        ("/api/v1/jobs", wanted()),
        ("/api/v1/jobs:bulk", {"jobs": [wanted()]}),
        (PATH, spec()),
    ):
        answer = api.post(path, body, format="json")
        assert answer.status_code == 422
        assert "/api/v1/" in answer.json()["message"]
    schedule = {"name": "nightly", "spec": wanted(), "cron": "0 2 * * *"}
    answer = api.post("/api/v1/teams/vision/schedules", schedule, format="json")
    assert "searches for values" in answer.json()["message"]


def test_a_sweep_can_be_checked_without_submitting_it(api: APIClient) -> None:
    answer = api.post("/api/v1/jobs:validate", wanted(), format="json").json()
    assert (answer["trials"], answer["problems"]) == (9, [])
    answer = api.post("/api/v1/jobs:validate", wanted(trials=0), format="json").json()
    assert answer["problems"][0]["field"] == "sweep.trials"


def test_sweeps_are_listed_a_page_at_a_time(
    api: APIClient, foreign_api: APIClient, add: AddSweep
) -> None:
    first = add()
    for job in trials(first).values():
        ends(job)
    second = add()
    page = api.get(PATH, {"limit": 1}).json()
    assert [one["id"] for one in page["items"]] == [second.pk]
    rest = api.get(PATH, {"limit": 1, "cursor": page["next_cursor"]}).json()
    assert [one["id"] for one in rest["items"]] == [first.pk]
    assert rest["items"][0]["states"] == {"completed": 3}
    assert rest["next_cursor"] is None
    assert api.get(PATH, {"team": "vision"}).json()["items"]
    assert foreign_api.get(PATH).json()["items"] == []
    assert foreign_api.get(f"{PATH}/{first.pk}").status_code == 404
    assert api.get(PATH, {"cursor": "nonesuch"}).json()["code"] == "bad_cursor"


def test_a_sweep_is_cancelled_with_all_that_is_to_come(api: APIClient, add: AddSweep) -> None:
    sweep = add()
    tells(trials(sweep)[1], 0.5, loss=0.4)
    answer = api.post(f"{PATH}/{sweep.pk}/cancel", {"reason": "enough"}, format="json")
    assert answer.status_code == 202
    settle(*trials(sweep).values())
    assert set(states(sweep).values()) == {"cancelled"}
    assert {job.reason for job in trials(sweep).values()} == {"cancelled_by_user"}
    go()
    sweep.refresh_from_db()
    assert (len(trials(sweep)), sweep.ended_at is None) == (3, False)
    entry = AuditEntry.objects.get(operation="cancel_sweep")
    assert entry.target == f"sweeps/{sweep.pk}/cancel"


def test_who_dies_while_it_is_cancelled_has_not_closed_it(
    api: APIClient, add: AddSweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = add()
    with monkeypatch.context() as patched:

        def die(**_: object) -> None:
            raise Killed

        patched.setattr(control, "cancel_all", die)
        with pytest.raises(Killed):
            api.post(f"{PATH}/{sweep.pk}/cancel", {}, format="json")
    assert JobArray.objects.get(pk=sweep.pk).is_open


def test_its_array_is_cancelled_likewise_and_steered_by_nobody_else(
    api: APIClient, add: AddSweep
) -> None:
    sweep = add()
    for verb in ("pause", "resume"):
        answer = api.post(f"/api/v1/arrays/{sweep.pk}/{verb}", {}, format="json")
        assert (answer.status_code, answer.json()["code"]) == (409, "illegal_transition")
    assert api.post(f"/api/v1/arrays/{sweep.pk}/cancel", {}, format="json").status_code == 202
    go()
    assert set(states(sweep).values()) == {"cancelled"}
    assert len(trials(sweep)) == 3


def test_members_cancel_their_own_only(add: AddSweep, vision: Team) -> None:
    sweep = add()
    person = User.objects.create_user("ada", password="a long password")
    Membership.objects.create(user=person, team=vision, role=Membership.Role.MEMBER)
    client = APIClient()
    client.force_login(person)
    assert client.get(f"{PATH}/{sweep.pk}").json()["may_change"] is False
    answer = client.post(f"{PATH}/{sweep.pk}/cancel", {}, format="json")
    assert answer.status_code == 403
    assert JobArray.objects.get(pk=sweep.pk).is_open


def test_a_sweep_whose_jobs_are_deleted_is_cancelled_by_whoever_may_cancel_all(
    api: APIClient, add: AddSweep, vision: Team
) -> None:
    sweep = add(max_running=1)
    ends(trials(sweep)[1])
    job_deletion.delete(job_id=trials(sweep)[1].id)
    person = User.objects.create_user("ada", password="a long password")
    Membership.objects.create(user=person, team=vision, role=Membership.Role.MEMBER)
    client = APIClient()
    client.force_login(person)
    for path in (f"{PATH}/{sweep.pk}/cancel", f"/api/v1/arrays/{sweep.pk}/cancel"):
        assert client.post(path, {}, format="json").status_code == 403
        assert JobArray.objects.get(pk=sweep.pk).is_open
    assert api.post(f"{PATH}/{sweep.pk}/cancel", {}, format="json").status_code == 202
    assert not JobArray.objects.get(pk=sweep.pk).is_open


def test_what_a_submission_did_is_in_the_audit_log(add: AddSweep) -> None:
    sweep = add()
    entry = AuditEntry.objects.get(operation="submit_sweep")
    assert entry.target == f"sweeps/{sweep.pk}"


def test_a_sweep_goes_with_its_last_job(add: AddSweep) -> None:
    sweep = add(trials=1)
    tells(trials(sweep)[1], 1.0, loss=0.5)
    go()
    ends(trials(sweep)[1])
    go()
    forget()
    assert Sweep.objects.exists()
    job_deletion.delete(job_id=trials(sweep)[1].id)
    forget()
    assert not any(kind.objects.exists() for kind in (Sweep, SweepMark, JobArray))


def test_a_sweep_without_jobs_that_goes_on_is_not_forgotten(add: AddSweep) -> None:
    sweep = add(max_running=1)
    ends(trials(sweep)[1])
    job_deletion.delete(job_id=trials(sweep)[1].id)
    forget()
    go()
    assert states(sweep) == {2: "queued"}


def forget() -> None:
    erase = Eraser(seconds=60.0)
    retention.delete_old(erase=erase)
    kept = JobRetention(days=dict.fromkeys(KeptPart, 0), history=None, jobs=None)
    jobs_retention.delete_old(kept, erase=erase, has_time=erase.has_time)


def test_to_show_many_trials_takes_as_many_statements_as_to_show_few(
    api: APIClient, add: AddSweep
) -> None:
    def statements(sweep: Sweep) -> int:
        with CaptureQueriesContext(connection) as queries:
            shown(api, sweep)
        return len(queries)

    few = add(trials=2, max_running=2)
    counted = statements(few)
    assert counted <= STATEMENTS_TO_SHOW
    for job in trials(few).values():
        ends(job)
    assert statements(add(trials=30, max_running=30)) == counted
