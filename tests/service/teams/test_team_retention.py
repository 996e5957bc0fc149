"""Does each team keep what its jobs leave for as long as it chose, within what admins allow?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient
from storage.models import CodeSnapshot
from tenancy.models import RetentionRule, Team
from tenancy.models.retention_rule import KeptPart

from jobs.models import Job, Leftover
from jobs.queries.upload_use import code_without_jobs
from tests.service.administration.test_retention import ended, forget
from tests.service.conftest import SubmitJob, client_of, spec
from tests.service.teams.test_team_secrets import member

URL = "/api/v1/teams/vision/retention"


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def change(client: APIClient, part: str = "logs", **body: Any) -> Any:
    return client.patch(f"{URL}/{part}", body, format="json")


def kept(client: APIClient, part: str = "logs") -> int:
    (found,) = (one for one in client.get(URL).json()["items"] if one["part"] == part)
    return int(found["kept_days"])


def wishes() -> set[tuple[str, str]]:
    names = dict(Job.objects.values_list("pk", "name"))
    return {(names[one.job_id], one.part) for one in Leftover.objects.all()}


def test_a_team_begins_with_the_numbers_of_the_installation(api: APIClient) -> None:
    answer = api.get(URL).json()
    found = {one["part"]: one["kept_days"] for one in answer["items"]}
    assert found == {"curves": 90, "logs": 90, "checkpoints": 180, "outputs": 180, "code": 0}
    assert (answer["may_choose"], answer["may_set_bounds"]) == (True, False)


def test_what_a_team_chose_counts_for_its_own_jobs(
    api: APIClient, submit: SubmitJob, language: Team
) -> None:
    ours = [ended(submit(name=name), days) for name, days in (("old", 8), ("young", 6))]
    client_of(language).post("/api/v1/jobs", spec(name="theirs"), format="json")
    theirs = ended(Job.objects.get(name="theirs"), 8)
    assert change(api, days=7).json()["kept_days"] == 7
    forget()
    assert wishes() == {("old", "logs")}
    assert Job.objects.get(pk=ours[0].pk).logs_removed_at is not None
    assert change(api, days=0).json()["kept_days"] == 0
    for job in (*ours, theirs):
        ended(job, 300)
    Job.objects.update(files_removed_at=timezone.now(), outputs_removed_at=timezone.now())
    forget()
    assert wishes() == {("old", "logs"), ("theirs", "logs")}
    assert change(api, days=None).json()["kept_days"] == 90


def test_admins_set_bounds_that_the_team_keeps(api: APIClient, admin: APIClient) -> None:
    assert change(api, most_days=10).status_code == 403
    assert change(admin, least_days=7, most_days=365).status_code == 200
    for days in (3, 400, 0):
        refused = change(api, days=days)
        assert (refused.status_code, refused.json()["code"]) == (400, "retention_refused")
        assert "at least 7 days and at most 365 days" in refused.json()["message"]
    assert change(api, days=365).json()["kept_days"] == 365
    assert change(admin, most_days=30).json()["kept_days"] == 30  # whatever it chose before
    assert change(admin, least_days=31).json()["code"] == "retention_refused"
    assert kept(api) == 30


def test_bounds_count_for_the_installations_number_as_well(
    api: APIClient, admin: APIClient
) -> None:
    assert change(admin, "code", most_days=20).json()["kept_days"] == 20
    assert change(admin, "outputs", least_days=400).json()["kept_days"] == 400


@pytest.mark.parametrize(
    "body", [{}, {"days": -1}, {"days": "soon"}, {"days": 10**9}, {"most_days": 0}, [1]]
)
def test_what_is_no_number_of_days_is_refused(admin: APIClient, vision: Team, body: Any) -> None:
    assert admin.patch(f"{URL}/logs", body, format="json").status_code == 400
    assert not RetentionRule.objects.exists()


def test_only_leads_choose_and_of_parts_that_there_are(
    api: APIClient, foreign_api: APIClient, vision: Team
) -> None:
    assert change(member(vision, "member"), days=1).status_code == 403
    assert change(member(vision, "lead"), days=1).status_code == 200
    assert change(foreign_api, days=1).status_code == 404
    assert change(api, "everything", days=1).status_code == 404


def test_outputs_and_checkpoints_go_each_in_its_time(api: APIClient, submit: SubmitJob) -> None:
    ended(submit(name="a"), 20)
    change(api, "checkpoints", days=10)
    forget()
    assert wishes() == {("a", "work")}
    change(api, "outputs", days=15)
    forget()
    assert wishes() == {("a", "work"), ("a", "outputs")}


def test_code_goes_when_it_is_old_for_all_jobs_that_ran_it(
    api: APIClient, submit: SubmitJob, vision: Team
) -> None:
    digest = "0" * 64
    CodeSnapshot.objects.create(
        team=vision, digest=digest, bytes=1, files=1, used_at=timezone.now()
    )
    old, young = ended(submit(name="old"), 20), ended(submit(name="young"), 5)
    Job.objects.update(code=digest)
    change(api, "code", days=10)
    forget()
    assert not code_without_jobs(CodeSnapshot.objects.all()).exists()
    ended(young, 11)
    forget()
    assert code_without_jobs(CodeSnapshot.objects.all()).exists()
    assert Job.objects.get(pk=old.pk).code == digest  # what it was stays known


def test_a_job_tells_what_of_it_goes_when(api: APIClient, submit: SubmitJob) -> None:
    job = submit(name="a")
    address = f"/api/v1/jobs/{job.id}/removals"
    assert {one["due_at"] for one in api.get(address).json()["items"]} == {None}
    ended(job, 1)
    job.refresh_from_db()
    assert job.finished_at is not None
    change(api, "outputs", days=0)
    change(api, "code", days=9000)
    found = {one["part"]: one["due_at"] for one in api.get(address).json()["items"]}
    ends = {
        days: (job.finished_at + timedelta(days=days)).isoformat()[:19] for days in (90, 180, 730)
    }
    told = {part: at[:19] for part, at in found.items()}
    assert told == {
        **dict.fromkeys(("curves", "logs"), ends[90]),
        **dict.fromkeys(("checkpoints", "history"), ends[180]),
        **dict.fromkeys(("outputs", "code", "job"), ends[730]),  # nothing outlives its job
    }
    api.post(f"/api/v1/jobs/{job.id}/pin")
    pinned = api.get(address).json()
    assert pinned["is_pinned"]
    assert {one["due_at"] for one in pinned["items"]} == {None}


def test_rules_go_with_their_team(vision: Team) -> None:
    RetentionRule.objects.create(team=Team.objects.create(name="alone"), part=KeptPart.LOGS, days=1)
    Team.objects.get(name="alone").delete()
    assert not RetentionRule.objects.exists()
