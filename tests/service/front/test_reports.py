"""Are reports answered before Django, as the view would answer them?"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from control_plane.front.coordinators.reports import Reports
from control_plane.front.wiring import in_front_of
from django.db import connections
from pytest_django import Settings

from jobs.lifecycle import State
from jobs.models import Job, Worker
from tests.service.front.asking import Answer, Recorder, ask
from tests.service.syncing import began, metric, report, sync, token_of

SYNC = "/internal/v1/jobs/abc/sync"


@pytest.fixture
def alone(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A front without Redis, whose threads keep no connection to the database."""
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
    settings.CONCERTINA = replace(settings.CONCERTINA, redis_url="unix:///nowhere/at/all")


def asked(application: Any, method: str, path: str, **more: Any) -> Answer:
    return asyncio.run(ask(application, method, path, **more))


@pytest.mark.usefixtures("alone")
@pytest.mark.django_db(transaction=True)
def test_a_report_is_stored_and_answered_without_django(job: Job, workers: list[Worker]) -> None:
    django = Recorder()
    body = report(generation=1, generations=[began(1, workers)], metrics=[metric(3)])
    told = asked(
        in_front_of(django),
        "POST",
        f"/internal/v1/jobs/{job.id}/sync",
        headers={"authorization": f"Bearer {token_of(job)}"},
        pieces=(json.dumps(body).encode(),),
    )
    assert (told.status, told.headers["content-type"]) == (200, "application/json")
    job.refresh_from_db()
    assert (job.state, job.step) == (State.RUNNING, 3)
    assert told.json() == sync(job, body).json() | {"report_after_seconds": 0.5}
    assert not django.scopes


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("authorization", ["", "Bearer x", "Basic x"])
def test_whoever_is_not_the_coordinator_is_told_so(authorization: str) -> None:
    told = asked(
        in_front_of(Recorder()),
        "POST",
        SYNC,
        headers={"authorization": authorization},
        pieces=(b"{",),
    )
    assert (told.status, told.json()["code"]) == (401, "not_authenticated")


def test_everything_else_goes_to_django() -> None:
    django = Recorder()
    front = Reports(django, answer=lambda *_: (200, {}))
    for method, path in (("GET", SYNC), ("POST", f"{SYNC}s"), ("POST", "/api/v1/jobs")):
        assert asked(front, method, path).body == b"ok"
    assert asked(front, "POST", SYNC).json() == {}
    assert len(django.scopes) == 3


@pytest.mark.django_db
def test_a_fault_of_ours_is_told_as_one_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(*_: Any) -> Any:
        raise ZeroDivisionError

    told = asked(Reports(Recorder(), answer=breaks), "POST", SYNC)
    assert (told.status, told.json()["code"]) == (500, "internal_error")
    assert "A report could not be stored." in caplog.text
