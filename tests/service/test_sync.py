"""Does a coordinator's sync store what it reports, once, and answer with what is wanted?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Pool
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.test import Client

from jobs import job_token
from jobs.lifecycle import State
from jobs.models import Event, Generation, Job, Measurement, MetricPoint, Worker
from jobs.transitions import move
from tests.service.conftest import SubmitJob, assign, run

NOW = 1_795_000_000.0


@pytest.fixture
def workers(job: Job) -> list[Worker]:
    """A job that has just been started with two workers."""
    return run(job, workers=2)


def report(**changes: Any) -> dict[str, Any]:
    return {
        "coordinator_started_at": NOW,
        "registered": True,
        "model_bytes": 1000,
        "total_samples": 4000,
        "revision": 1,
        "generation": 0,
        "workers": [],
        "generations": [],
        "metrics": [],
        "measurements": [],
        "checkpoint_step": None,
        "finished": False,
        **changes,
    }


def began(number: int, workers: list[Worker], **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "revision": 1,
        "cause": "desired",
        "workers": [worker.id for worker in workers],
        "global_batch_size": 64,
        "began_at": NOW + number,
        "step": 10 * number,
        "stall_seconds": 0.125,
        "lost_workers": [],
        **changes,
    }


def metric(step: int, **changes: Any) -> dict[str, Any]:
    return {
        "at": NOW + step,
        "generation": 1,
        "step": step,
        "epoch": step / 100,
        "samples": step * 64,
        "samples_per_second": 640.0,
        "step_seconds": 0.1,
        "compute_seconds": 0.08,
        "communication_seconds": 0.02,
        "local_batch_size": 32,
        "learning_rate": 0.01,
        "values": {"loss": 1.0 / (step + 1)},
        **changes,
    }


def sync(job: Job, body: object, token: str | None = None) -> Any:
    return Client().post(
        f"/internal/v1/jobs/{job.id}/sync",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token or job_token.issue(job.id)}"},
    )


def test_the_answer_is_the_newest_assignment(job: Job, workers: list[Worker]) -> None:
    answer = sync(job, report())
    assert answer.status_code == 200
    assert answer.json() == {
        "action": "run",
        "revision": 1,
        "attempt": 1,
        "workers": [worker.id for worker in workers],
        "global_batch_size": 64,
        "next_generation": 1,
    }


def test_the_job_runs_once_the_newest_revision_trains(job: Job, workers: list[Worker]) -> None:
    sync(job, report())
    job.refresh_from_db()
    assert job.state == State.STARTING
    answer = sync(job, report(generation=1, generations=[began(1, workers)]))
    job.refresh_from_db()
    assert (job.state, job.generation, job.rescales) == (State.RUNNING, 1, 0)
    assert (job.reason, job.message) == ("job_arrived", "2 workers are best.")
    assert answer.json()["next_generation"] == 2
    made = Generation.objects.get(job=job)
    assert (made.workers, made.reason, made.attempt, made.stall_seconds) == (
        2,
        "job_arrived",
        1,
        0.125,
    )


def test_a_rescale_ends_when_its_revision_trains_and_not_before(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
    move(job.id, {State.RUNNING}, State.RESCALING, reason="reclaim_guarantee")
    sync(job, report(generation=1, generations=[began(1, workers)]))
    job.refresh_from_db()
    assert job.state == State.RESCALING
    second = began(2, workers[:1], revision=2, global_batch_size=32)
    sync(job, report(revision=2, generation=2, generations=[began(1, workers), second]))
    job.refresh_from_db()
    assert (job.state, job.generation, job.rescales) == (State.RUNNING, 2, 1)
    assert job.last_rescaled_at is not None
    first, last = Generation.objects.filter(job=job)
    assert first.ended_at == last.began_at
    assert (last.reason, last.ended_at) == ("reclaim_guarantee", None)


def test_a_repeated_sync_changes_nothing(job: Job, workers: list[Worker]) -> None:
    body = report(
        generation=1,
        generations=[began(1, workers)],
        metrics=[metric(1), metric(2)],
        measurements=[measured(2, 64)],
        workers=[{"worker_id": workers[0].id, "phase": "training"}],
    )
    first = sync(job, body).json()
    counts = _rows(job)
    job.refresh_from_db()
    before = {name: value for name, value in vars(job).items() if name[0] != "_"}
    assert sync(job, body).json() == first
    assert _rows(job) == counts
    job.refresh_from_db()
    after = {name: value for name, value in vars(job).items() if name[0] != "_"}
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"coordinator_seen_at"}


def _rows(job: Job) -> list[int]:
    kinds = (Generation, MetricPoint, Measurement, Event, Worker)
    return [kind.objects.filter(job=job).count() for kind in kinds]  # type: ignore[attr-defined]  # all have one


def measured(workers: int, batch: int, **changes: Any) -> dict[str, Any]:
    return {
        "workers": workers,
        "global_batch_size": batch,
        "steps": 10,
        "step_seconds": 0.1,
        **changes,
    }


def test_progress_is_that_of_the_newest_metric(job: Job, workers: list[Worker]) -> None:
    values = {"accuracy": 0.5}
    sync(job, report(checkpoint_step=4, metrics=[metric(1), metric(5, values=values), metric(3)]))
    job.refresh_from_db()
    assert (job.step, job.samples, job.total_samples, job.checkpoint_step) == (5, 320, 4000, 4)
    assert job.values == {"loss": 0.25, "accuracy": 0.5}
    assert (job.model_bytes, job.samples_per_second) == (1000, 640.0)


def test_measurements_belong_to_the_type_of_gpu_they_were_made_on(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(measurements=[measured(2, 64)]))
    Pool.objects.filter(pk=job.pool_id).update(gpu_type="h100")
    sync(job, report(measurements=[measured(2, 64, step_seconds=0.05)]))
    stored = Measurement.objects.filter(job=job).values_list("gpu_type", "step_seconds")
    assert dict(stored) == {"slot": 0.1, "h100": 0.05}


def test_gradient_noise_is_kept_once_it_was_reported(job: Job, workers: list[Worker]) -> None:
    for reported in (None, 850.0, None, -1.0, float("nan"), "many"):
        assert sync(job, report(noise_scale=reported)).status_code == 200
        job.refresh_from_db()
        assert job.noise_scale == (None if reported is None and not job.noise_scale else 850.0)
    assert job.noise_scale == 850.0


def test_a_later_estimate_of_the_noise_moves_the_one_known_a_little(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(noise_scale=100.0))
    Job.objects.filter(pk=job.id).update(coordinator_seen_at=Now() - timedelta(seconds=10))
    sync(job, report(noise_scale=400.0))
    job.refresh_from_db()
    assert job.noise_scale is not None
    assert 110 < job.noise_scale < 120


def test_the_lowest_batch_limit_is_remembered_for_each_type_of_gpu(
    job: Job, workers: list[Worker]
) -> None:
    for reported in (None, 64, 32, 48, 0, "many"):
        assert sync(job, report(batch_limit=reported)).status_code == 200
    Pool.objects.filter(pk=job.pool_id).update(gpu_type="h100")
    sync(job, report(batch_limit=256))
    job.refresh_from_db()
    assert job.batch_limits == {"slot": 32, "h100": 256}
    found = Event.objects.filter(job=job, kind="batch_limit_found").order_by("id")
    assert [event.data["samples"] for event in found] == [64, 32, 256]
    assert "at most 32 samples at once on slot" in found[1].message


def test_values_logged_after_the_last_step_join_its_metric(job: Job, workers: list[Worker]) -> None:
    sync(job, report(metrics=[metric(10)]))
    sync(job, report(metrics=[metric(10, values={"loss": 0.1, "accuracy": 0.97})]))
    point = MetricPoint.objects.get(job=job, step=10)
    assert point.values == {"loss": 0.1, "accuracy": 0.97}


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
        headers={"Authorization": f"Bearer {job_token.issue(job.id)}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_token_opens_its_own_job_only(job: Job, submit: SubmitJob) -> None:
    other = submit(name="other")
    for token in (job_token.issue(other.id), "ct_nothing", job.id, f"{job.id}:x"):
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


@pytest.mark.parametrize(
    "state", [State.QUEUED, State.PAUSED, State.STOPPING, State.COMPLETED, State.CANCELLED]
)
def test_a_job_that_should_not_run_is_told_to_stop(
    job: Job, workers: list[Worker], state: State
) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    assert sync(job, report()).json()["action"] == "stop"


def test_a_late_report_of_an_ended_job_is_kept_and_opens_nothing(
    job: Job, workers: list[Worker]
) -> None:
    Job.objects.filter(pk=job.pk).update(state=State.COMPLETED)
    sync(job, report(generation=1, generations=[began(1, workers)], metrics=[metric(9)]))
    job.refresh_from_db()
    assert job.state == State.COMPLETED
    assert Generation.objects.get(job=job).ended_at is not None
    assert MetricPoint.objects.filter(job=job).exists()


def test_a_script_that_registers_makes_an_auto_job_hot(job: Job, workers: list[Worker]) -> None:
    sync(job, report(registered=False))
    job.refresh_from_db()
    assert job.mode == Job.Mode.AUTO
    sync(job, report())
    sync(job, report())
    job.refresh_from_db()
    assert job.mode == Job.Mode.HOT
    assert Event.objects.filter(job=job, kind="mode_detected").count() == 1


@pytest.mark.parametrize("mode", ["hot", "restart", "fixed"])
def test_a_declared_mode_stays(submit: SubmitJob, mode: str) -> None:
    job = submit(elastic={"mode": mode})
    run(job, workers=1)
    sync(job, report())
    job.refresh_from_db()
    assert job.mode == mode


def test_survivors_of_a_loss_are_a_generation_with_its_event(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    lost = began(2, workers[:1], cause="worker_lost", lost_workers=[workers[1].id])
    lost["stall_seconds"] = 0.31
    sync(job, report(generation=2, generations=[lost]))
    made = Generation.objects.get(job=job, number=2)
    assert made.reason == "node_lost"
    assert made.message == f"{workers[1].id} was lost; 1 went on after 0.31 s."
    event = Event.objects.get(job=job, kind="workers_lost")
    assert (event.data["workers"], event.data["generation"]) == ([workers[1].id], 2)


def test_workers_follow_the_coordinators_view_but_stay_gone(
    job: Job, workers: list[Worker]
) -> None:
    third = Worker.objects.create(
        id=f"{job.id}-1-3", job=job, attempt=1, node=workers[0].node, phase=Worker.Phase.GONE
    )
    assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
    sync(
        job,
        report(
            workers=[
                {"worker_id": workers[0].id, "phase": "training"},
                {"worker_id": workers[1].id, "phase": "training", "error": "late\0"},
                {"worker_id": third.id, "phase": "training"},
                {"worker_id": "unknown-1-1", "phase": "training"},
            ]
        ),
    )
    phases = dict(Worker.objects.values_list("id", "phase"))
    assert phases == {
        workers[0].id: "training",
        workers[1].id: "leaving",
        third.id: "gone",
    }
    assert Worker.objects.get(pk=workers[1].id).error == "late"


def test_a_worker_of_another_job_is_out_of_reach(
    job: Job, workers: list[Worker], submit: SubmitJob
) -> None:
    other = submit(name="other")
    sync(other, report(workers=[{"worker_id": workers[0].id, "phase": "training"}]))
    assert Worker.objects.get(pk=workers[0].pk).phase == Worker.Phase.STARTING


def test_a_measurement_is_replaced_and_knows_its_nodes(job: Job, workers: list[Worker]) -> None:
    from cluster.models import Node  # noqa: PLC0415 - beside its only use

    Worker.objects.filter(pk=workers[1].pk).update(node=Node.objects.get(name="node-2"))
    sync(job, report(generation=1, generations=[began(1, workers)]))
    sync(job, report(measurements=[measured(2, 64), measured(2, 64, steps=20)]))
    sync(job, report(measurements=[measured(2, 64, steps=30, step_seconds=0.2)]))
    row = Measurement.objects.get(job=job)
    assert (row.nodes, row.steps, row.step_seconds) == (2, 30, 0.2)


def test_an_ordinary_sync_takes_few_statements(
    job: Job, workers: list[Worker], django_assert_max_num_queries: Any
) -> None:
    body = report(
        generation=1,
        generations=[began(1, workers)],
        workers=[{"worker_id": worker.id, "phase": "training"} for worker in workers],
    )
    sync(job, body)
    body |= {"metrics": [metric(3)], "measurements": [measured(2, 64)]}
    with django_assert_max_num_queries(16):
        assert sync(job, body).status_code == 200


def test_a_script_that_logs_ever_new_names_keeps_the_newest_only(
    job: Job, workers: list[Worker]
) -> None:
    for step in range(1, 6):
        values = {f"loss_{step}_{number}": 1.0 for number in range(30)}
        sync(job, report(metrics=[metric(step, values=values)]))
    job.refresh_from_db()
    assert len(job.values) == 64
    assert {f"loss_5_{number}" for number in range(30)} <= set(job.values)
