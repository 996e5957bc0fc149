"""Are previews of quotas as promised: who may ask, what is answered, what is done only once?"""

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

from autoscaler.simulation.api import commands, execution, limits, retention
from autoscaler.simulation.api.models import BaseRun, Simulation
from autoscaler.simulation.api.previews import base_runs
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from tests.service.conftest import SubmitJob
from tests.service.simulations.conftest import signed_in

URL = "/api/v1/quota-previews"


@pytest.fixture
def lead(vision: Team, language: Team) -> APIClient:
    """Of vision, which is above detection."""
    user = User.objects.create_user("lea")
    Membership.objects.create(user=user, team=vision, role=Membership.Role.LEAD)
    Team.objects.create(name="detection", parent=vision)
    return signed_in(user)


@pytest.fixture
def past(vision: Team, submit: SubmitJob) -> list[Job]:
    """Two jobs of vision that came at once, each of which wanted all of the pool."""
    jobs = [submit(name=f"past-{number}") for number in range(2)]
    for job in jobs:
        Measurement.objects.create(
            job=job, workers=1, global_batch_size=64, steps=100, step_seconds=0.1
        )
    Job.objects.update(state=JobState.COMPLETED, samples=640_000, finished_at=timezone.now())
    return jobs


def ask(client: APIClient, *quotas: dict[str, Any], **more: Any) -> Any:
    return client.post(URL, {"quotas": [*quotas], "days": 1, **more}, format="json")


def quota(team: str = "vision", **changes: Any) -> dict[str, Any]:
    return {"team": team, "pool": "default", **changes}


def completed(client: APIClient, *quotas: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = ask(client, *quotas, **more)
    assert asked.status_code == 202, asked.json()
    assert execution.run_next()
    found: dict[str, Any] = client.get(f"{URL}/{asked.json()['id']}").json()
    assert found["state"] == "completed", found["error"]
    return found


def teams_of(preview: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["team"]: row for row in preview["result"]["teams"]}


def test_a_preview_tells_each_team_before_and_after(admin: APIClient, past: list[Job]) -> None:
    before = Quota.objects.get(team__name="vision").guaranteed_gpus
    found = completed(admin, quota(guaranteed_gpus=0), quota("language", guaranteed_gpus=0))
    vision = teams_of(found)["vision"]
    assert vision["before"]["guaranteed_gpus"] == before
    assert vision["after"]["guaranteed_gpus"] == 0
    assert vision["after"]["borrowed_gpu_hours"] > vision["before"]["borrowed_gpu_hours"]
    assert vision["before"]["jobs"] == vision["after"]["finished"] == 2
    assert found["result"]["jobs"] == 2
    assert Quota.objects.get(team__name="vision").guaranteed_gpus == before


def test_fewer_gpus_let_jobs_wait_and_more_do_not(admin: APIClient, past: list[Job]) -> None:
    gpus = sum(node.gpus for node in Pool.objects.get().nodes.all())
    change = {"pool": "default", "add_gpus": 1 - gpus}
    none = (quota(guaranteed_gpus=0, lending_limit_gpus=None), quota("language", guaranteed_gpus=0))
    vision = teams_of(completed(admin, *none, pools=[change]))["vision"]
    assert vision["after"]["wait_seconds"] > vision["before"]["wait_seconds"]


def test_a_preview_that_changes_nothing_shows_no_change(admin: APIClient, past: list[Job]) -> None:
    found = completed(admin, quota())
    assert all(row["before"] == row["after"] for row in found["result"]["teams"])
    assert found["result"]["paused"] == []


def test_the_past_is_replayed_once_for_all_previews_of_it(
    admin: APIClient, past: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    completed(admin, quota(guaranteed_gpus=0))
    monkeypatch.delattr(base_runs, "run")
    monkeypatch.delattr(base_runs, "history")
    Job.objects.update(samples=1)
    completed(admin, quota(guaranteed_gpus=1))
    assert BaseRun.objects.count() == 1


def test_whoever_asks_alike_is_given_what_there_is(admin: APIClient, past: list[Job]) -> None:
    waits = ask(admin, quota(guaranteed_gpus=0))
    joined = ask(admin, quota(guaranteed_gpus=0))
    assert (waits.status_code, joined.status_code) == (202, 200)
    assert execution.run_next()
    again = ask(admin, quota(guaranteed_gpus=0))
    assert (again.status_code, again.json()["id"]) == (200, waits.json()["id"])
    assert again.json()["result"] is not None
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=0)
    assert ask(admin, quota(guaranteed_gpus=0)).status_code == 202  # of another cluster


def test_who_joins_and_gives_up_takes_nothing_from_anybody_else(
    lead: APIClient, admin: APIClient, past: list[Job]
) -> None:
    waits = ask(lead, quota("detection", guaranteed_gpus=1)).json()
    other = ask(admin, quota("detection", guaranteed_gpus=1))
    assert (other.status_code, other.json()["requested_by"]) == (202, "root")
    assert admin.post(f"{URL}/{other.json()['id']}/cancel").status_code == 202
    assert execution.run_next()
    assert lead.get(f"{URL}/{waits['id']}").json()["state"] == "completed"
    known = ask(admin, quota("detection", guaranteed_gpus=1))
    assert (known.status_code, known.json()["id"]) == (200, waits["id"])


def test_of_two_who_ask_at_once_the_second_looks_when_the_first_has_asked(
    admin: APIClient, past: list[Job]
) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert ask(admin, quota(guaranteed_gpus=0)).status_code == 202
    sent = [query["sql"] for query in asked.captured_queries]
    looks = next(place for place, sql in enumerate(sent) if '."digest" = ' in sql)
    assert any("pg_advisory_xact_lock" in sql for sql in sent[:looks])


def test_days_that_end_some_seconds_apart_share_their_past_and_few_are_kept(
    admin: APIClient, past: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_runs, "MOST_KEPT", 2)
    made = [completed(admin, quota(guaranteed_gpus=0), days=days) for days in (1.0001, 2, 3)]
    assert [one["request"]["days"] for one in made] == [1, 2, 3]
    assert ask(admin, quota(guaranteed_gpus=0), days=2.9999).status_code == 200
    assert BaseRun.objects.count() == 2
    assert ask(admin, quota(guaranteed_gpus=0), days=1).status_code == 202


def test_what_was_asked_is_told_as_it_was_asked(admin: APIClient, vision: Team) -> None:
    """A limit that was not named stays; null would lift it."""
    pool = {"pool": "default", "add_gpus": 8}
    changed = quota(limit_gpus=None, over_quota_weight=2.0)
    told = ask(admin, quota("language", guaranteed_gpus=1), changed, pools=[pool]).json()
    kept = quota("language", guaranteed_gpus=1)
    assert told["request"] == {"quotas": [kept, changed], "pools": [pool], "days": 1.0}


def test_an_old_answer_is_not_given_again_and_its_past_is_forgotten(
    admin: APIClient, past: list[Job]
) -> None:
    completed(admin, quota(guaranteed_gpus=0))
    long_ago = timezone.now() - limits.PAST_IS_KEPT - timedelta(seconds=1)
    BaseRun.objects.update(made_at=long_ago)
    assert ask(admin, quota(guaranteed_gpus=0)).status_code == 202
    retention.delete_old(None, has_time=lambda: True)
    assert not BaseRun.objects.exists()


def test_asking_takes_as_many_statements_whatever_is_changed(
    admin: APIClient, past: list[Job]
) -> None:
    def statements(*quotas: dict[str, Any]) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ask(admin, *quotas).status_code == 202
        return len(asked)

    ask(admin, quota(over_quota_weight=5))
    few = statements(quota(guaranteed_gpus=0))
    for number in range(5):
        Team.objects.create(name=f"team-{number}")
    many = [quota(f"team-{number}", over_quota_weight=2) for number in range(5)]
    assert statements(*many) == few


def test_a_lead_previews_teams_below_its_own_and_no_other(
    lead: APIClient, admin: APIClient, past: list[Job]
) -> None:
    assert ask(lead, quota("detection", guaranteed_gpus=1)).status_code == 202
    for team in ("vision", "language"):
        assert ask(lead, quota(team, guaranteed_gpus=1)).status_code == 403
    assert ask(lead, pools=[{"pool": "default", "add_gpus": 1}]).status_code == 403


def test_a_reader_sees_what_is_said_of_teams_that_they_may_see(
    lead: APIClient, admin: APIClient, past: list[Job], settings: Any
) -> None:
    found = completed(lead, quota("detection", over_quota_weight=2))
    assert {"vision", "language"} <= teams_of(found).keys()
    paused = [{"team": team, "name": "x"} for team in ("vision", "language")]
    Simulation.objects.update(result={**found["result"], "paused": paused})
    shown = lead.get(f"{URL}/{found['id']}").json()
    assert shown["result"]["paused"] == [{"team": "vision", "name": "x"}]
    settings.CONCERTINA = replace(settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert "language" not in teams_of(lead.get(f"{URL}/{found['id']}").json())
    assert "language" in teams_of(admin.get(f"{URL}/{found['id']}").json())


def test_a_preview_is_cancelled_once_and_is_no_simulation(
    admin: APIClient, past: list[Job]
) -> None:
    made = ask(admin, quota(guaranteed_gpus=0)).json()
    assert admin.get("/api/v1/simulations").json()["items"] == []
    assert admin.get(f"/api/v1/simulations/{made['id']}").status_code == 404
    cancelled = admin.post(f"{URL}/{made['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (202, "cancelled")
    assert admin.post(f"{URL}/{made['id']}/cancel").status_code == 409
    assert commands.claim() is None


def test_a_past_without_measured_jobs_fails_with_what_to_do(admin: APIClient) -> None:
    made = ask(admin, quota(guaranteed_gpus=0)).json()
    assert execution.run_next()
    found = admin.get(f"{URL}/{made['id']}").json()
    assert (found["state"], "Look further back" in found["error"]) == ("failed", True)


def test_too_many_jobs_are_refused(
    admin: APIClient, past: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_SIMULATED_JOBS", 3)
    answer = ask(admin, quota(guaranteed_gpus=0))
    assert (answer.status_code, answer.json()["code"]) == (422, "simulation_too_large")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "quotas"),
        ({"quotas": [quota("nobody", guaranteed_gpus=1)]}, "quotas.0.team"),
        ({"quotas": [quota(pool="nowhere")]}, "quotas.0.pool"),
        ({"quotas": [quota(), quota(guaranteed_gpus=99)]}, "quotas"),
        ({"quotas": [quota(guaranteed_gpus=99, limit_gpus=None)]}, "quotas.0.guaranteed_gpus"),
        ({"quotas": [quota(limit_gpus=0)]}, "quotas.0.limit_gpus"),
        ({"quotas": [quota(guaranteed_gpus=-1)]}, "quotas.0.guaranteed_gpus"),
        ({"quotas": [quota(over_quota_weight="nan")]}, "quotas.0.over_quota_weight"),
        ({"quotas": [quota()] * 101}, "quotas"),
        ({"quotas": [quota()], "days": 32}, "days"),
        ({"quotas": [quota()], "days": 0}, "days"),
        ({"pools": [{"pool": "nowhere", "add_gpus": 1}]}, "pools.0.pool"),
        ({"pools": [{"pool": "default", "add_gpus": 1}] * 2}, "pools"),
        ({"pools": [{"pool": "default"}]}, "pools.0.add_gpus"),
        ({"quotas": [quota(guarantee_gpus=1)]}, "quotas.0.guarantee_gpus"),
        ({"pools": [{"pool": "default", "add_gpu": 1}]}, "pools.0.add_gpu"),
        ({"quotas": [quota()], "day": 1}, "day"),
    ],
)
def test_a_wrong_field_names_itself(admin: APIClient, body: dict[str, Any], field: str) -> None:
    answer = admin.post(URL, body, format="json")
    assert answer.status_code == 400, answer.json()
    assert answer.json()["details"][0]["field"].startswith(field)


def test_more_gpus_go_than_there_are(admin: APIClient) -> None:
    answer = ask(admin, pools=[{"pool": "default", "add_gpus": -1000}])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workload")
