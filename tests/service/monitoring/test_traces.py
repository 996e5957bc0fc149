"""Does the trace of whoever submits go on with the jobs, and is nothing of their specs in it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient
from tenancy.models import Team
from tracing import sending

from jobs.models import Job
from tests.service.conftest import spec
from tests.tracing.receiver import OtlpReceiver, ReceivedSpan, traced

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADER = f"00-{TRACE}-{CALLER}-01"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    with traced(monkeypatch) as ready:
        yield ready


@pytest.fixture
def submit(
    api: APIClient, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Any:
    def send(path: str, body: Any, **headers: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return api.post(path, body, format="json", headers=headers).json()

    return send


def submission(receiver: OtlpReceiver, trace_id: str = TRACE) -> ReceivedSpan:
    [span] = receiver.wait_for(trace_id, "submit")
    return span


def test_the_trace_of_a_pipeline_goes_on_in_the_job(receiver: OtlpReceiver, submit: Any) -> None:
    secret = spec(env={"PASSWORD": "hunter2"}, labels={"customer": "acme"})
    job = submit("/api/v1/jobs", secret, traceparent=HEADER)
    span = submission(receiver)
    assert span.parent_id == CALLER
    assert Job.objects.get(pk=job["id"]).trace == span.header
    assert span.attributes == {
        "concertina.team": "vision",
        "concertina.jobs": 1,
        "concertina.job": job["id"],
        "concertina.is_repeated": False,
    }


def test_many_jobs_and_repeated_ones_are_of_one_submission(
    receiver: OtlpReceiver, submit: Any
) -> None:
    many = {"jobs": [spec(name="a"), spec(name="b")]}
    for _ in range(2):
        submit("/api/v1/jobs:bulk", many, traceparent=HEADER, **{"idempotency-key": "k"})
    sending.end()
    first, again = receiver.of_trace(TRACE)
    assert (first.attributes["concertina.jobs"], again.attributes["concertina.jobs"]) == (2, 2)
    assert again.attributes["concertina.is_repeated"] is True
    assert set(Job.objects.values_list("trace", flat=True)) == {first.header}


def test_a_refusal_is_told_with_its_code(receiver: OtlpReceiver, submit: Any) -> None:
    submit("/api/v1/jobs", spec(command=[]), traceparent=HEADER)
    span = submission(receiver)
    assert (span.error, span.attributes) == ("invalid_spec", {})


def test_without_a_caller_a_trace_begins_and_a_run_again_has_one_of_its_own(
    receiver: OtlpReceiver, submit: Any
) -> None:
    job = submit("/api/v1/jobs", spec(), traceparent="00-nonsense")
    trace = Job.objects.get(pk=job["id"]).trace
    assert submission(receiver, trace.split("-")[1]).header == trace
    again = submit(f"/api/v1/jobs/{job['id']}/rerun", {"name": "again"}, traceparent=HEADER)
    assert Job.objects.get(pk=again["id"]).trace == submission(receiver).header


def test_no_job_is_traced_while_tracing_is_off_or_the_caller_does_not_want_it(
    submit: Any, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit("/api/v1/jobs", spec(name="a"), traceparent=HEADER)
    with traced(monkeypatch):
        submit("/api/v1/jobs", spec(name="b"), traceparent=HEADER[:-2] + "00")
    assert set(Job.objects.filter(team=vision).values_list("trace", flat=True)) == {""}


def test_a_schedule_that_somebody_runs_goes_on_in_their_trace(
    receiver: OtlpReceiver, submit: Any
) -> None:
    schedules = "/api/v1/teams/vision/schedules"
    submit(schedules, {"name": "nightly", "spec": spec(), "cron": "0 2 * * *"})
    run = submit(f"{schedules}/nightly/run", None, traceparent=HEADER)
    assert Job.objects.get(pk=run["jobs"][0]["id"]).trace == submission(receiver).header
