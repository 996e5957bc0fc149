"""Is a report believed as far as it makes sense, and refused from whom it does not concern?"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from jobs.models import Generation, Job, Measurement, MetricPoint, Worker
from jobs.worker_phase import WorkerPhase
from tests.service.conftest import SubmitJob
from tests.service.syncing import began, measured, metric, report, sync, token_of


def test_numbers_that_are_none_are_stored_as_null(job: Job, workers: list[Worker]) -> None:
    strange = metric(1, samples_per_second=float("inf"), learning_rate=float("nan"))
    strange["values"] = {"loss": float("nan"), "ok": 1, "text": "x", "a\0b": 2.0, "flag": True}
    assert sync(job, report(metrics=[strange])).status_code == 200
    point = MetricPoint.objects.get(job=job)
    assert point.values == {"loss": None, "ok": 1.0, "text": None, "ab": 2.0, "flag": None}
    assert (point.samples_per_second, point.learning_rate) == (0.0, 0.0)


def test_entries_that_make_no_sense_are_dropped_and_the_rest_is_kept(
    job: Job, workers: list[Worker]
) -> None:
    body = report(
        metrics=[metric(1), metric(2, at=1e300), metric(-2), "what", metric(2**70)],
        measurements=[measured(0, 64), measured(2, 64), measured(2, 32, step_seconds=0)],
        generations=[began(0, workers), began(1, workers, cause="whim")],
        workers=[{"worker_id": "a\0b", "phase": "training"}, {"phase": "ready"}],
    )
    assert sync(job, body).status_code == 200
    assert MetricPoint.objects.filter(job=job).count() == 1
    assert Measurement.objects.filter(job=job).count() == 1
    assert not Generation.objects.filter(job=job).exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ([], 400, "invalid_report"),
        ("text", 400, "invalid_report"),
        ({"metrics": "none"}, 400, "invalid_report"),
        ({"generation": -1}, 400, "invalid_report"),
        ({"workers": 7}, 400, "invalid_report"),
    ],
)
def test_a_report_that_is_wrong_as_a_whole_is_refused(
    job: Job, workers: list[Worker], body: object, status: int, code: str
) -> None:
    answer = sync(job, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b""])
def test_a_body_that_is_no_json_is_refused(job: Job, body: bytes) -> None:
    answer = Client().post(
        f"/internal/v1/jobs/{job.id}/sync",
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {token_of(job)}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_token_opens_its_own_job_only(job: Job, submit: SubmitJob) -> None:
    other = submit(name="other")
    for token in (token_of(other), "ct_nothing", job.id, f"{job.id}:x"):
        answer = sync(job, report(), token=token)
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert Client().post(f"/internal/v1/jobs/{job.id}/sync").status_code == 401


def test_a_team_token_does_not_open_the_sync(api: Any, job: Job) -> None:
    assert api.post(f"/internal/v1/jobs/{job.id}/sync", {}, format="json").status_code == 401


def test_without_the_database_the_coordinator_is_told_to_report_again(job: Job) -> None:
    def gone(*_: object) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    with connection.execute_wrapper(gone):
        answer = sync(job, report())
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_another_method_is_refused(job: Job) -> None:
    assert Client().get(f"/internal/v1/jobs/{job.id}/sync").status_code == 405


def test_a_worker_of_another_job_is_out_of_reach(
    job: Job, workers: list[Worker], submit: SubmitJob
) -> None:
    other = submit(name="other")
    sync(other, report(workers=[{"worker_id": workers[0].id, "phase": "training"}]))
    assert Worker.objects.get(pk=workers[0].pk).phase == WorkerPhase.STARTING
