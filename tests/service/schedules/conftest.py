"""A schedule of team vision, and rounds whose clock the test holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from control_plane.queries.pool_capacities import read_pools
from rest_framework.test import APIClient
from schedules.models import ScheduleRun, TeamSchedule
from schedules.rounds import one_round

from tests.service.conftest import spec

PATH = "/api/v1/teams/vision/schedules"
AddSchedule = Callable[..., TeamSchedule]


def wanted(**changes: Any) -> dict[str, Any]:
    """A schedule that is due every day at two."""
    return {"name": "nightly", "spec": spec(), "cron": "0 2 * * *", **changes}


def add_by(client: APIClient, **changes: Any) -> TeamSchedule:
    answer = client.post(PATH, wanted(**changes), format="json")
    assert answer.status_code == 201, answer.json()
    return TeamSchedule.objects.get(pk=answer.json()["id"])


@pytest.fixture
def add(api: APIClient) -> AddSchedule:
    def add_one(**changes: Any) -> TeamSchedule:
        return add_by(api, **changes)

    return add_one


def when_due(schedule: TeamSchedule, *, after: timedelta = timedelta(seconds=1)) -> datetime:
    """A moment after it is due next."""
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    return schedule.next_at + after


def go(now: datetime) -> None:
    """One round at this moment."""
    one_round.run_round(read_pools, clock=lambda: now, has_time=lambda: True)


def go_when_due(schedule: TeamSchedule, *, after: timedelta = timedelta(seconds=1)) -> ScheduleRun:
    """A round at its next time; returns its run."""
    go(when_due(schedule, after=after))
    return newest_run(schedule)


def newest_run(schedule: TeamSchedule) -> ScheduleRun:
    found = ScheduleRun.objects.filter(schedule=schedule).first()
    assert found is not None
    return found


def make_due(schedule: TeamSchedule, at: datetime) -> None:
    """Let it be due at a moment, whatever its expression says."""
    TeamSchedule.objects.filter(pk=schedule.pk).update(next_at=at)
