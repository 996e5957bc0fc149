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
from jobs.commands import quarantine
from jobs.commands.quarantine import Part
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
    assert found["message"].startswith("Team vision has used up the 100 GPU-hours")


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
    told = [one for reader in (team_sees, sees_nobody, admin) for one in reader.told([(job, 4, 2)])]
    assert [(one.job_id, one.name, one.team) for one in told] == [
        (None, None, "language"),
        (None, None, None),
        (borrowed.id, "borrower", "language"),
    ]
    assert "language" in str(asked(api, elastic=of_one_size(5)))
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert "language" not in str(asked(api, elastic=of_one_size(5)))


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


def test_where_teams_see_nothing_of_each_other_only_the_sum_of_others_is_told() -> None:
    def job(name: str, team: str) -> Any:
        return SimpleNamespace(job_id=name, name=name, team=team)

    losing = [(job("one", "language"), 4, 2), (job("own", "vision"), 3, 1)]
    losing += [(job("two", "robots"), 4, 1)]
    reader = outlook.OutlookReader(team="vision", shows_others=False)
    assert reader.told(losing) == (
        outlook.GivesWay(
            job_id="own", name="own", team="vision", workers_without=3, workers_with=1
        ),
        outlook.GivesWay(workers_without=8, workers_with=3),
    )


def test_a_job_beyond_a_limit_of_its_team_waits_for_it(
    api: APIClient, submit: SubmitJob, vision: Team
) -> None:
    TeamLimits.objects.create(team=vision, max_running_jobs=1)
    run(submit(name="runs", elastic=of_one_size(1)), workers=1)
    found = asked(api, elastic=of_one_size(1))
    assert (found["action"], found["workers"], found["finish"]) == ("wait", None, None)
    assert found["message"].startswith("Team vision may run 1 job at once (`max_running_jobs`)")
    assert found["message"].endswith("raises the limit.")


def test_it_takes_the_last_place_of_a_job_that_comes_after_it(
    api: APIClient, submit: SubmitJob, vision: Team
) -> None:
    TeamLimits.objects.create(team=vision, max_running_jobs=1)
    behind = submit(name="behind", elastic=of_one_size(1), priority=10)
    found = asked(api, elastic=of_one_size(1), priority=90)
    assert found["action"] == "start"
    assert [(one["job_id"], one["workers_with"]) for one in found["gives_way"]] == [(behind.id, 0)]


def test_a_job_that_waits_for_others_does_not_start_before_they_end(
    api: APIClient, submit: SubmitJob
) -> None:
    first = submit(name="first", elastic=of_one_size(1))
    found = asked(api, elastic=of_one_size(1), depends_on=["first"])
    assert (found["action"], found["workers"], found["gives_way"]) == ("wait", None, [])
    assert found["message"] == f"Waits for first ({first.id}) to complete (queued)."
    Job.objects.filter(pk=first.pk).update(state="completed", finished_at=timezone.now())
    assert asked(api, elastic=of_one_size(1), depends_on=["first"])["action"] == "start"


def test_a_job_that_cannot_be_simulated_takes_no_more_than_the_prediction(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(outlook, "predict", fails)
    found = asked(api, elastic=of_one_size(2))
    assert (found["action"], found["workers"], found["finish"]) == ("start", 2, None)


def test_jobs_that_nobody_can_simulate_stand_still_in_the_prediction(
    api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they do where live jobs are predicted."""
    culprit = submit(name="culprit", elastic=of_one_size(1))
    quarantine.update(
        Part.PREDICTION,
        failing={culprit.id: ZeroDivisionError()},
        healed=frozenset(),
        now=timezone.now(),
    )
    replayed: list[str] = []
    monkeypatch.setattr(
        outlook, "predict", lambda state, **_: replayed.extend(job.name for job in state.jobs) or {}
    )
    assert asked(api, elastic=of_one_size(2))["action"] == "start"
    assert replayed == ["new"]


def test_what_there_is_no_time_to_look_into_is_no_ground_for_an_answer(
    api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(name="there")
    monkeypatch.setattr(outlook, "OBSERVATION_SECONDS", 0.0)
    found = asked(api)
    assert (found["action"], "Ask again" in found["message"]) == ("", True)
    monkeypatch.undo()
    assert asked(api)["action"] == "start"


def test_paused_jobs_are_not_planned_and_do_not_count(
    api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlook, "MOST_PLANNED", 0)
    job = submit(name="paused")
    Job.objects.filter(pk=job.pk).update(state="paused")
    assert asked(api)["action"] == "start"
