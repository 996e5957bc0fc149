"""Does a team see what its jobs keep on disk, and is it held to what admins allow?"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import Job
from tests.service.conftest import SubmitJob, spec

URL = "/api/v1/teams/vision"
GIB = 1 << 30


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def storage(api: APIClient) -> Any:
    answer = api.get(f"{URL}/storage")
    assert answer.status_code == 200, answer.content
    return answer.json()


def keeps(job: Job, size: int, *, ended: bool) -> Job:
    if ended:
        now = timezone.now()
        Job.objects.filter(pk=job.pk).update(
            state="completed", finished_at=now, kept_bytes=size, disk_bytes=size
        )
    else:
        Job.objects.filter(pk=job.pk).update(state="running", disk_bytes=size)
    return job


def test_a_team_sees_its_sum_its_limit_and_the_jobs_that_keep_most(
    api: APIClient, admin: APIClient, submit: SubmitJob
) -> None:
    Team.objects.filter(name="vision").update(disk_bytes=7 * GIB)
    assert storage(api)["most_bytes"] == 5000 * GIB, "as the installation says"
    for name, size, ended in (("a", 1, True), ("b", 4, True), ("c", 2, False)):
        keeps(submit(name=name), size * GIB, ended=ended)
    submit(name="waits")
    assert admin.patch(URL, {"most_disk_gib": 10}, format="json").status_code == 200
    found = storage(api)
    assert (found["used_bytes"], found["most_bytes"]) == (7 * GIB, 10 * GIB)
    assert (found["is_full"], found["message"]) == (False, "")
    assert [(one["name"], one["bytes"]) for one in found["jobs"]] == [
        ("b", 4 * GIB),
        ("c", 2 * GIB),
        ("a", GIB),
    ]
    admin.patch(URL, {"most_disk_gib": 8}, format="json")
    assert storage(api)["message"].startswith("Jobs of team vision keep 7.0 GiB on disk, of the 8")


def test_a_job_of_which_some_was_removed_is_seen_as_it_was_until_it_is_measured(
    api: APIClient, submit: SubmitJob
) -> None:
    keeps(submit(), 3 * GIB, ended=True)
    Job.objects.update(kept_bytes=None)
    (found,) = storage(api)["jobs"]
    assert found["bytes"] == 3 * GIB


def test_a_list_of_the_largest_has_an_end_and_takes_two_statements_however_many_there_are(
    api: APIClient, submit: SubmitJob
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            storage(api)
        return len(captured)

    keeps(submit(name="one"), GIB, ended=True)
    few = statements()
    for number in range(24):
        keeps(submit(name=f"job-{number}"), number * GIB, ended=number % 2 == 0)
    assert statements() == few
    assert len(storage(api)["jobs"]) == 20


def test_a_full_team_submits_nothing_and_hears_what_to_do(
    api: APIClient, foreign_api: APIClient
) -> None:
    Team.objects.filter(name="vision").update(disk_bytes=10 * GIB + 1, most_disk_gib=10)
    answer = api.post("/api/v1/jobs", spec(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "team_disk_full")
    assert answer.json()["message"] == (
        "Jobs of team vision keep 10.0 GiB on disk, more than the 10.0 GiB that they may. Delete"
        " what nobody needs (`concertina storage --team vision` names the jobs that keep most), or"
        " ask an admin to raise the team's `most_disk_gib`."
    )
    assert not Job.objects.exists()
    assert storage(api)["is_full"] is True
    dry_run = api.post("/api/v1/jobs:validate", spec(), format="json")
    assert any("`concertina storage" in note for note in dry_run.json()["notes"])
    assert foreign_api.post("/api/v1/jobs", spec(name="theirs"), format="json").status_code == 201
    Team.objects.update(disk_bytes=10 * GIB)
    accepted = api.post("/api/v1/jobs", spec(), format="json")
    assert accepted.status_code == 201
    assert any("of the 10.0 GiB that they may" in note for note in accepted.json()["notes"])


@pytest.mark.parametrize("value", [0, -1, 2**20 + 1, "much", 1.5])
def test_only_admins_set_the_limit_and_only_within_bounds(
    api: APIClient, admin: APIClient, value: Any
) -> None:
    assert api.patch(URL, {"most_disk_gib": 5}, format="json").status_code == 403
    refused = admin.patch(URL, {"most_disk_gib": value}, format="json")
    assert refused.status_code == 400
    assert Team.objects.get(name="vision").most_disk_gib is None
