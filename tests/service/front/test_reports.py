"""Are reports answered before Django, as the view would answer them?"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from control_plane.front.asgi_types import Application
from control_plane.front.coordinators.batches import Batches, Storing
from control_plane.front.coordinators.pace import FRONT_SECONDS, ReportPacing
from control_plane.front.coordinators.reports import ReportEndpoint, storing
from control_plane.front.threads.processor_shares import ProcessorShares
from control_plane.front.wiring import in_front_of
from django.db import connections
from pytest_django import Settings

from concertina_worker.protocol import LONGEST_REST_SECONDS
from jobs.lifecycle import JobState
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
    assert (job.state, job.step) == (JobState.RUNNING, 3)
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


def front(django: Application, store: Storing, pace: ReportPacing | None = None) -> ReportEndpoint:
    known = pace or ReportPacing()
    batches = Batches(store, pace=known, shares=ProcessorShares(is_short=lambda: False))
    return ReportEndpoint(django, batches, known)


def answered(status: int, **document: Any) -> Storing:
    return lambda told: [(status, document) for _ in told]


def test_everything_else_goes_on() -> None:
    django = Recorder()
    reports = front(django, answered(200))
    for method, path in (("GET", SYNC), ("POST", f"{SYNC}s"), ("POST", "/api/v1/jobs")):
        assert asked(reports, method, path).body == b"ok"
    assert asked(reports, "POST", SYNC, caller="job:abc").json() == {}
    assert asked(reports, "POST", SYNC, caller="job:abd").status == 401
    assert len(django.scopes) == 3


@pytest.mark.django_db
def test_a_fault_of_ours_is_told_as_one_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(*_: Any) -> Any:
        raise ZeroDivisionError

    store = storing(breaks, breaks)
    told = asked(front(Recorder(), store), "POST", SYNC, caller="job:abc")
    assert (told.status, told.json()["code"]) == (500, "internal_error")
    assert "Reports could not be stored." in caplog.text


@pytest.mark.parametrize(
    ("jobs", "at_rest", "while_it_changes"),
    [(1, 5.0, 0.5), (400, 8.0, 5.0), (10_000, LONGEST_REST_SECONDS, 5.0)],
)
def test_the_more_jobs_report_the_later_the_next_report_is_due(
    jobs: int, at_rest: float, while_it_changes: float
) -> None:
    pace = ReportPacing()
    pace.note([str(number) for number in range(jobs)], (0.005 - FRONT_SECONDS) * jobs)

    def pause(seconds: float) -> float:
        reports = front(Recorder(), answered(200, report_after_seconds=seconds), pace)
        told = asked(reports, "POST", SYNC, caller="job:abc")
        return float(told.json()["report_after_seconds"])

    assert pause(5.0) == pytest.approx(at_rest, rel=0.15)  # its own counts, too
    assert pause(0.5) == pytest.approx(while_it_changes)


def test_jobs_that_are_gone_no_longer_count() -> None:
    now = 100.0
    pace = ReportPacing(lambda: now)
    pace.note(["1", "2", "3"], 3.0)
    before = pace.rest_seconds()
    now += 60.0
    pace.note(["1"], 1.0)
    assert pace.rest_seconds() == pytest.approx(before / 3)
