"""Does a sync store what was measured: progress, speeds, gradient noise, memory limits?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Node, Pool
from django.db.models.functions import Now

from jobs.models import Event, Job, Measurement, MetricPoint, Worker
from tests.service.syncing import began, measured, metric, report, sync


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


@pytest.mark.parametrize("speed", [None, float("nan"), "slow", -1.0])
def test_a_straggler_of_unknown_speed_is_as_good_as_not_reported(
    job: Job, workers: list[Worker], speed: Any
) -> None:
    entry = {"worker_id": workers[0].id, "phase": "training", "compute_seconds": 0.5}
    slow = {**entry, "is_straggler": True, "relative_speed": speed}
    assert sync(job, report(workers=[slow])).status_code == 200
    workers[0].refresh_from_db()
    assert (workers[0].is_straggler, workers[0].compute_seconds) == (False, 0.5)
    assert not Event.objects.filter(job=job, kind="straggler_found").exists()


def test_values_logged_after_the_last_step_join_its_metric(job: Job, workers: list[Worker]) -> None:
    sync(job, report(metrics=[metric(10)]))
    sync(job, report(metrics=[metric(10, values={"loss": 0.1, "accuracy": 0.97})]))
    point = MetricPoint.objects.get(job=job, step=10)
    assert point.values == {"loss": 0.1, "accuracy": 0.97}


def test_a_measurement_is_replaced_and_knows_its_nodes(job: Job, workers: list[Worker]) -> None:
    Worker.objects.filter(pk=workers[1].pk).update(node=Node.objects.get(name="node-2"))
    sync(job, report(generation=1, generations=[began(1, workers)]))
    sync(job, report(measurements=[measured(2, 64), measured(2, 64, steps=20)]))
    sync(job, report(measurements=[measured(2, 64, steps=30, step_seconds=0.2)]))
    row = Measurement.objects.get(job=job)
    assert (row.nodes, row.steps, row.step_seconds) == (2, 30, 0.2)


def test_a_script_that_logs_ever_new_names_keeps_the_newest_only(
    job: Job, workers: list[Worker]
) -> None:
    for step in range(1, 6):
        values = {f"loss_{step}_{number}": 1.0 for number in range(30)}
        sync(job, report(metrics=[metric(step, values=values)]))
    job.refresh_from_db()
    assert len(job.values) == 64
    assert {f"loss_5_{number}" for number in range(30)} <= set(job.values)
