"""Do GET /ticks and /cluster/prices tell what the autoscaler did, and to each what is theirs?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from control_plane.configuration.team_visibility import TeamVisibility
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from autoscaler.control_loop.models import Tick
from jobs.models import Job
from tests.service.conftest import SubmitJob

URL: Final = "/api/v1/ticks"
NOON: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def decision(job_id: str, action: str = "rescale", **changes: Any) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "action": action,
        "reason": "reclaim_guarantee",
        "message": "It gives 2 GPUs back for words of team language.",
        "previous": {"workers_by_node": [["node-1", 4]], "global_batch_size": 64},
        "allocation": {"workers_by_node": [["node-1", 2]], "global_batch_size": 64},
        "explanation": {"kind": "rescaled", "gain": -0.4, "stall_seconds": 1.5},
        **changes,
    }


def tick(minute: int, *decisions: dict[str, Any], price: float = 1.5, **changes: Any) -> Tick:
    outcome = {"pool": "default", "policy": "completion_time", "value": 3.0, "upper_bound": 3.0}
    numbers = {"gap": 0.0, "price": price, "gpus_total": 8, "gpus_used": 6}
    seconds = dict.fromkeys(("observe_seconds", "plan_seconds", "apply_seconds"), 0.25)
    fields: dict[str, Any] = {
        "at": NOON + timedelta(minutes=minute),
        "fence": 1,
        "pools": [{**outcome, **numbers}],
        "decisions": decisions,
        **seconds,
        **changes,
    }
    return Tick.objects.create(**fields)


def test_a_tick_tells_what_changed_and_why(admin_api: APIClient, job: Job) -> None:
    made = tick(0, decision(job.id), held={job.id: [4, 2]})
    (told,) = admin_api.get(URL).json()["items"]
    assert (told["id"], told["at"], told["plan_seconds"]) == (made.pk, "2026-11-27T12:00:00Z", 0.25)
    assert told["pools"][0] == {
        "pool": "default",
        "policy": "completion_time",
        "price": 1.5,
        "gap": 0.0,
        "value": 3.0,
        "upper_bound": 3.0,
        "gpus_total": 8,
        "gpus_used": 6,
    }
    assert (told["changes_count"], told["teams"]) == (
        1,
        [{"team": "vision", "gpus_before": 4, "gpus_after": 2}],
    )
    assert told["changes"] == [
        {
            "team": "vision",
            "job_id": job.id,
            "job_name": "digits",
            "pool": "default",
            "gpus_before": 4,
            "gpus_after": 2,
            "action": "rescale",
            "reason": "reclaim_guarantee",
            "message": "It gives 2 GPUs back for words of team language.",
            "gain": -0.4,
            "stall_seconds": 1.5,
        }
    ]
    whole = admin_api.get(f"{URL}/{made.pk}").json()
    assert [(one["job_name"], one["gpus_after"]) for one in whole["jobs"]] == [("digits", 2)]
    assert admin_api.get(f"{URL}/{made.pk + 1}").status_code == 404


def test_a_tick_of_a_former_release_tells_workers(admin_api: APIClient, job: Job) -> None:
    tick(0, decision(job.id))
    (told,) = admin_api.get(URL).json()["items"]
    assert (told["changes"][0]["gpus_before"], told["changes"][0]["gpus_after"]) == (4, 2)
    assert told["teams"] == []


def test_a_team_is_told_of_its_jobs_without_the_words_for_admins(api: APIClient, job: Job) -> None:
    tick(0, decision(job.id), held={job.id: [4, 2]}, alarm="n1:0 is used twice by words")
    (told,) = api.get(URL).json()["items"]
    (change,) = told["changes"]
    assert (change["job_id"], change["reason"], change["message"]) == (
        job.id,
        "reclaim_guarantee",
        "",
    )
    assert "words" not in str(told)
    assert told["alarm"] == "What is wrong with a plan is told to admins."


@pytest.mark.parametrize(
    ("seen", "team"),
    [
        (TeamVisibility.EVERYBODY, "vision"),
        (TeamVisibility.NUMBERS, "vision"),
        (TeamVisibility.OWN, "other teams"),
    ],
)
def test_of_others_it_tells_what_the_installation_shows(
    foreign_api: APIClient, settings: Settings, job: Job, seen: TeamVisibility, team: str
) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=seen)
    made = tick(0, decision(job.id), held={job.id: [4, 2]})
    for told in (
        foreign_api.get(URL).json()["items"][0],
        foreign_api.get(f"{URL}/{made.pk}").json(),
    ):
        (change,) = told["changes"]
        assert (change["team"], change["gpus_after"]) == (team, 2)
        assert (change["job_id"], change["job_name"], change["reason"]) == (None, None, "")
        assert job.id not in str(told)


def test_a_job_that_was_deleted_is_told_of_to_admins(
    api: APIClient, admin_api: APIClient, job: Job
) -> None:
    tick(0, decision("gone"), held={"gone": [4, 2]})
    for client, job_id in ((admin_api, "gone"), (api, None)):
        (change,) = client.get(URL).json()["items"][0]["changes"]
        assert (change["job_id"], change["job_name"], change["team"]) == (
            job_id,
            None,
            "other teams",
        )


def test_ticks_come_in_pages_in_either_order(admin_api: APIClient, job: Job) -> None:
    for minute in range(5):
        tick(minute, decision(job.id))
    tick(5)  # rules alone changed something
    for order, wanted in (("newest", [3, 2, 1]), ("oldest", [1, 2, 3])):
        asked = {"since": "2026-11-27T12:01:00Z", "until": "2026-11-27T12:04:00Z", "limit": 2}
        first = admin_api.get(URL, {**asked, "order": order}).json()
        following = {**asked, "order": order, "cursor": first["next_cursor"]}
        second = admin_api.get(URL, following).json()
        minutes = [int(one["at"][14:16]) for one in (*first["items"], *second["items"])]
        assert (minutes, second["next_cursor"]) == (wanted, None)
    assert admin_api.get(URL, {"cursor": "nonsense"}).status_code == 400


@pytest.mark.parametrize("count", [1, 20])
def test_a_page_takes_two_statements(admin_api: APIClient, submit: SubmitJob, count: int) -> None:
    for minute in range(count):
        job = submit(name=f"job-{minute}")
        tick(minute, decision(job.id), held={job.id: [4, 2]})
    with CaptureQueriesContext(connection) as statements:
        assert len(admin_api.get(URL).json()["items"]) == count
    about = [one["sql"] for one in statements]
    assert sum("control_loop_tick" in sql or "jobs_job" in sql for sql in about) == 2


def test_prices_are_thinned_and_alarms_stand_beside_them(admin_api: APIClient, job: Job) -> None:
    for second in range(120):
        tick(0, at=NOON + timedelta(seconds=second), price=float(second))
    tick(3, alarm="no_gpu_twice")
    asked = {"since": "2026-11-27T12:00:00Z", "until": "2026-11-27T22:00:00Z"}
    told = admin_api.get("/api/v1/cluster/prices", asked).json()
    assert (told["pool"], told["policy"]) == ("default", "completion_time")
    assert [one["price"] for one in told["items"]] == [59.0, 119.0, 1.5]  # the last of each minute
    assert told["alarms"] == ["2026-11-27T12:03:00Z"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"pool": "nowhere"}, 404),
        ({"since": "2026-11-27T12:00:00Z", "until": "2026-11-27T12:00:00Z"}, 400),
        ({"since": "2026-01-27T12:00:00Z", "until": "2026-11-27T12:00:00Z"}, 400),
    ],
)
def test_prices_have_bounds(
    admin_api: APIClient, job: Job, asked: dict[str, str], status: int
) -> None:
    assert admin_api.get("/api/v1/cluster/prices", asked).status_code == status
