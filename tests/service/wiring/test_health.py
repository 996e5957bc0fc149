"""Does /health say when plans are not applied?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Pool, UtilisationSample
from control_plane.api import health
from control_plane.queries import planning_status
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.commands import quarantine
from jobs.commands.quarantine import Part
from jobs.models import Job


@pytest.fixture(autouse=True)
def redis_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_ask_redis", lambda: True)


def ask() -> dict[str, Any]:
    cache.clear()
    answer = APIClient().get("/api/v1/health")
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def test_while_plans_are_applied_it_is_ok(pool: Pool) -> None:
    told = ask()
    assert told["status"] == "ok"
    assert told["plans"] == {
        "are_applied": True,
        "since": None,
        "message": "",
        "jobs_left_out": 0,
    }


def test_a_pool_without_a_plan_is_told_with_its_beginning_and_without_the_cause(
    pool: Pool,
) -> None:
    since = timezone.now() - timedelta(minutes=3)
    because = "team_limit: team vision would use 9 of at most 8 GPUs"
    Pool.objects.filter(pk=pool.pk).update(unplanned_since=since, unplanned_because=because)
    told = ask()
    assert told["status"] == "impaired"
    assert told["plans"]["are_applied"] is False
    assert told["plans"]["since"] == since.isoformat().replace("+00:00", "Z")
    assert f"pool {pool.name}" in told["plans"]["message"]
    assert "vision" not in str(told)


def test_a_control_loop_that_stands_still_is_told(pool: Pool, vision: Team) -> None:
    at = timezone.now() - timedelta(seconds=90)
    UtilisationSample.objects.create(pool=pool, team=vision, at=at, gpus=0, guaranteed_gpus=0)
    told = ask()
    assert told["status"] == "impaired"
    assert "stands still" in told["plans"]["message"]
    assert told["control_loop_seconds_ago"] >= 90


def test_jobs_that_are_left_out_are_counted(job: Job) -> None:
    failing = {job.id: ValueError("bad")}
    quarantine.update(Part.PLANNING, failing=failing, healed=(), now=timezone.now())
    told = ask()
    assert (told["status"], told["plans"]["jobs_left_out"]) == ("ok", 1)


def test_several_pools_are_named_together(pool: Pool) -> None:
    now = timezone.now()
    Pool.objects.create(name="other")
    Pool.objects.update(unplanned_since=now, unplanned_because="x")
    told = planning_status.read(last_looked_at=now, now=now)
    assert "pools default, other" in told.message
