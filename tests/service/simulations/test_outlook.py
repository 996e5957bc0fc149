"""POST /jobs:validate?outlook=true: does the planner say what would become of a job?"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from control_plane.configuration.team_visibility import TeamVisibility
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team, TeamLimits

from autoscaler.predictions import outlook
from autoscaler.team_budget import month_of
from jobs.models import Job
from tests.service.conftest import SubmitJob, run, spec

URL = "/api/v1/jobs:validate?outlook=true"


def asked(api: APIClient, **changes: Any) -> Any:
    answer = api.post(URL, spec(name="new", **changes), format="json")
    assert answer.status_code == 200, answer.json()
    assert answer.json()["problems"] == []
    return answer.json()["outlook"]


def of_one_size(workers: int) -> dict[str, Any]:
    return {"min_workers": workers, "max_workers": workers}


def test_in_an_empty_cluster_it_starts_and_nobody_gives_way(api: APIClient) -> None:
    found = asked(api, elastic=of_one_size(2))
    assert (found["action"], found["workers"], found["gives_way"]) == ("start", 2, [])
    assert found["message"]
    assert found["start"] is None
    assert not Job.objects.exists()


def test_whoever_does_not_ask_is_told_nothing(api: APIClient) -> None:
    answer = api.post("/api/v1/jobs:validate", spec(), format="json").json()
    assert answer["outlook"] is None
    wrong = api.post(URL, spec(priorty=3), format="json").json()
    assert (wrong["outlook"], len(wrong["problems"])) == (None, 1)


def test_behind_what_keeps_its_gpus_it_waits_and_is_told_why(
    api: APIClient, submit: SubmitJob
) -> None:
    """Its team may hold six GPUs, and holds four."""
    holder = submit(name="holder", elastic=of_one_size(4), preemptibility="non-preemptible")
    run(holder, workers=4)
    found = asked(api, elastic=of_one_size(3))
    assert (found["action"], found["workers"]) == ("wait", None)
    assert found["message"]
    assert found["gives_way"] == []


def test_what_its_team_may_not_start_waits_and_is_told_of_the_limit(
    api: APIClient, vision: Team
) -> None:
    limits = TeamLimits.objects.create(
        team=vision,
        gpu_hours_per_month=100,
        month=month_of(timezone.now()),
        month_gpu_hours=99,
        max_running_jobs=1,
    )
    assert asked(api)["action"] == "start"
    limits.month_gpu_hours = 101
    limits.save()
    found = asked(api)
    assert (found["action"], found["workers"], found["gives_way"]) == ("wait", None, [])
    assert found["message"].startswith("Team vision has used 101.0 of the 100 GPU-hours")


@pytest.fixture
def borrowed(foreign_api: APIClient, vision: Team) -> Job:
    """Team language is guaranteed two GPUs, and its job trains on eight."""
    sent = spec(name="borrower", elastic={"min_workers": 1, "max_workers": 8})
    job = Job.objects.get(pk=foreign_api.post("/api/v1/jobs", sent, format="json").json()["id"])
    run(job, workers=4)
    return job


def test_of_other_teams_jobs_it_is_told_what_the_installation_shows(
    api: APIClient, borrowed: Job, settings: Settings
) -> None:
    team_sees = outlook.OutlookReader(team="vision", shows_others=True)
    sees_nobody = outlook.OutlookReader(team="vision", shows_others=False)
    admin = outlook.OutlookReader(team="vision", shows_others=True, is_admin=True)
    job: Any = SimpleNamespace(job_id=borrowed.id, name="borrower", team="language")
    told = [one.gives_way(job, 4, 2) for one in (team_sees, sees_nobody, admin)]
    assert [(one.job_id, one.name, one.team) for one in told] == [
        (None, None, "language"),
        (None, None, None),
        (borrowed.id, "borrower", "language"),
    ]
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert "language" not in str(asked(api, elastic=of_one_size(4)))


def test_too_many_live_jobs_or_another_asker_are_answered_without_a_look(
    api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    with outlook._one_at_a_time:  # noqa: SLF001 - somebody else looks
        found = asked(api)
    assert (found["action"], found["message"]) == (
        "",
        "Somebody else looks ahead at this moment. Ask again.",
    )
    monkeypatch.setattr(outlook, "MOST_PLANNED", 0)
    submit(name="there")
    found = asked(api)
    assert (found["action"], "too many live jobs" in found["message"]) == ("", True)


def test_more_jobs_take_no_more_statements(api: APIClient, submit: SubmitJob) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as made:
            asked(api)
        return len(made)

    submit(name="first")
    few = statements()
    for number in range(4):
        submit(name=f"more-{number}")
    assert statements() == few


def test_a_job_of_its_own_team_that_gives_way_is_named(api: APIClient, submit: SubmitJob) -> None:
    elastic = submit(name="elastic", elastic={"min_workers": 1, "max_workers": 4}, priority=10)
    run(elastic, workers=4)
    Job.objects.filter(pk=elastic.pk).update(state="running")
    found = asked(api, elastic=of_one_size(4), priority=90)
    (one,) = found["gives_way"]
    assert (one["job_id"], one["name"], one["team"]) == (elastic.id, "elastic", "vision")
    assert one["workers_with"] < one["workers_without"] == 4
