"""Is the price of a quota as promised: who may ask, what is answered, how many replays it takes?"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Pool
from control_plane.configuration.team_visibility import TeamVisibility
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Membership, Quota, Team

from autoscaler.simulation.api import execution, limits
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import base_runs
from autoscaler.simulation.api.quota_prices import execution as prices
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from tests.service.conftest import SubmitJob
from tests.service.simulations.conftest import signed_in

URL = "/api/v1/quota-prices"


@pytest.fixture
def lead(vision: Team, language: Team) -> APIClient:
    """Of vision."""
    user = User.objects.create_user("lea")
    Membership.objects.create(user=user, team=vision, role=Membership.Role.LEAD)
    return signed_in(user)


@pytest.fixture
def past(vision: Team, language: Team, submit: SubmitJob) -> list[Job]:
    """Three jobs that came at once, each of which wanted all of the pool of four."""
    jobs = [submit(name=f"past-{number}") for number in range(3)]
    for job in jobs:
        Measurement.objects.create(
            job=job, workers=1, global_batch_size=64, steps=100, step_seconds=0.1
        )
    Job.objects.update(state=JobState.COMPLETED, samples=640_000, finished_at=timezone.now())
    Job.objects.filter(pk=jobs[2].pk).update(team=language)
    return jobs


def ask(client: APIClient, team: str = "vision", **more: Any) -> Any:
    return client.post(URL, {"team": team, "days": 1, **more}, format="json")


def completed(client: APIClient, team: str = "vision", **more: Any) -> dict[str, Any]:
    asked = ask(client, team, **more)
    assert asked.status_code == 202, asked.json()
    assert execution.run_next()
    found: dict[str, Any] = client.get(f"{URL}/{asked.json()['id']}").json()
    assert found["state"] == "completed", found["error"]
    result: dict[str, Any] = found["result"]
    return result


def test_each_step_tells_what_it_would_have_saved_the_team_and_the_others(
    lead: APIClient, past: list[Job]
) -> None:
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=0)
    nodes = Pool.objects.get().nodes
    nodes.exclude(pk=nodes.first().pk).delete()
    nodes.update(gpus=2)
    found = completed(lead, steps=[2, -1])
    fewer, more = found["steps"]
    assert (fewer["gpus"], more["gpus"]) == (-1, 2)
    assert (fewer["team"]["guaranteed_gpus"], more["team"]["guaranteed_gpus"]) == (0, 3)
    assert found["now"]["finished"] == more["team"]["finished"] == 2
    assert (fewer["adds_gpus"], more["adds_gpus"]) == (0, 1)
    assert fewer["job_hours_saved"] < 0 < more["job_hours_saved"]
    (other,) = fewer["others"]
    assert (other["team"], other["job_hours_saved"] > 0) == ("language", True)
    assert Quota.objects.get(team__name="vision").guaranteed_gpus == 1


def test_what_was_promised_to_others_is_bought(admin: APIClient, past: list[Job]) -> None:
    gpus = sum(node.gpus for node in Pool.objects.get().nodes.all())
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=gpus - 1)
    (step,) = completed(admin, steps=[3])["steps"]
    assert step["adds_gpus"] == 3
    assert step["job_hours_saved"] > 0


def test_without_borrowing_jobs_take_longer(admin: APIClient, past: list[Job]) -> None:
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=0)
    alone = completed(admin, steps=[1])["without_borrowing"]
    assert alone["team"]["borrowed_gpu_hours"] == 0
    assert alone["job_hours_saved"] < 0


def test_who_is_guaranteed_nothing_borrows_all(admin: APIClient, past: list[Job]) -> None:
    Quota.objects.update(guaranteed_gpus=0)
    found = completed(admin)
    assert found["without_borrowing"] is None
    assert [one["gpus"] for one in found["steps"]] == [1, 2, 4]
    assert found["now"]["borrowed_gpu_hours"] == found["now"]["gpu_hours"] > 0


def test_the_past_is_replayed_once_for_each_step_and_shared_with_previews(
    admin: APIClient, past: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.post(
        "/api/v1/quota-previews",
        {"quotas": [{"team": "vision", "guaranteed_gpus": 0}], "days": 1},
        format="json",
    )
    assert execution.run_next()
    replayed: list[object] = []
    run = prices.run
    monkeypatch.delattr(base_runs, "run")
    monkeypatch.setattr(
        prices, "run", lambda *given, **more: (replayed.append(given), run(*given, **more))[1]
    )
    completed(admin, steps=[1, -1])
    assert len(replayed) == 3  # and without borrowing


def test_whoever_asks_alike_is_given_what_there_is(admin: APIClient, past: list[Job]) -> None:
    completed(admin, steps=[1, 2])
    assert ask(admin, steps=[2, 1]).status_code == 200
    assert ask(admin, steps=[1]).status_code == 202
    assert ask(admin, "language", steps=[1, 2]).status_code == 202
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=0)
    assert ask(admin, steps=[1, 2]).status_code == 202  # of another cluster


def test_a_cluster_that_changed_while_the_question_waited_is_what_is_told_of(
    admin: APIClient, past: list[Job]
) -> None:
    asked = ask(admin, steps=[-2]).json()
    before = Quota.objects.get(team__name="vision").guaranteed_gpus
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    assert execution.run_next()
    found = admin.get(f"{URL}/{asked['id']}").json()
    assert (found["state"], "lowered by at most 1:" in found["error"]) == ("failed", True)
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=before)
    assert ask(admin, steps=[-2]).status_code == 202


def test_leads_ask_about_their_own_teams(
    lead: APIClient, admin: APIClient, vision: Team, past: list[Job]
) -> None:
    Team.objects.create(name="detection", parent=vision)
    for team, expected in (("vision", 202), ("detection", 202), ("language", 403), ("no", 403)):
        assert ask(lead, team, steps=[1]).status_code == expected, team
    member = User.objects.create_user("max")
    Membership.objects.create(user=member, team=vision, role=Membership.Role.MEMBER)
    assert ask(signed_in(member), steps=[1]).status_code == 403


def test_others_are_told_of_as_far_as_the_reader_sees_them(
    lead: APIClient, past: list[Job], settings: Any
) -> None:
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    asked = ask(lead, steps=[2]).json()
    settings.CONCERTINA = replace(settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert execution.run_next()
    (step,) = lead.get(f"{URL}/{asked['id']}").json()["result"]["steps"]
    assert step["others"] == []


def test_it_is_cancelled_once_and_is_neither_simulation_nor_preview(
    admin: APIClient, past: list[Job]
) -> None:
    made = ask(admin).json()
    for kind in ("simulations", "quota-previews"):
        assert admin.get(f"/api/v1/{kind}/{made['id']}").status_code == 404
    assert admin.post(f"{URL}/{made['id']}/cancel").json()["state"] == "cancelled"
    assert admin.post(f"{URL}/{made['id']}/cancel").status_code == 409


def test_asking_takes_as_many_statements_whatever_there_is(
    admin: APIClient, past: list[Job]
) -> None:
    def statements(steps: list[int]) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ask(admin, steps=steps).status_code == 202
        return len(asked)

    statements([8])
    few = statements([1])
    for number in range(5):
        Team.objects.create(name=f"team-{number}")
    assert statements([1, 2, 3, 4, 5, 6, 7, 8]) == few


def test_a_past_that_is_too_large_for_so_many_steps_is_refused(
    admin: APIClient, past: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_SIMULATED_JOBS", 9)
    assert ask(admin, steps=[1]).status_code == 202
    answer = ask(admin, steps=[1, 2])
    assert (answer.status_code, answer.json()["code"]) == (422, "simulation_too_large")


def test_an_old_answer_is_not_given_again(admin: APIClient, past: list[Job]) -> None:
    completed(admin, steps=[1])
    long_ago = timezone.now() - limits.PAST_IS_KEPT - timedelta(seconds=1)
    base_runs.BaseRun.objects.update(made_at=long_ago)
    assert ask(admin, steps=[1]).status_code == 202
    assert Simulation.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "team"),
        ({"team": "nobody"}, "team"),
        ({"pool": "nowhere"}, "pool"),
        ({"steps": []}, "steps"),
        ({"steps": [0]}, "steps"),
        ({"steps": [1, 1]}, "steps"),
        ({"steps": [*range(1, 10)]}, "steps"),
        ({"steps": [10_001]}, "steps.0"),
        ({"steps": [1.5]}, "steps.0"),
        ({"days": 32}, "days"),
        ({"step": 1}, "step"),
    ],
)
def test_a_wrong_field_names_itself(admin: APIClient, body: dict[str, Any], field: str) -> None:
    whole = body if field == "team" else {"team": "vision", **body}
    answer = admin.post(URL, whole, format="json")
    assert answer.status_code == 400, answer.json()
    assert answer.json()["details"][0]["field"].startswith(field)
