"""A slow worker in a real job: noticed by its own pace, and swapped while the others train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from concertina_worker.protocol import ExitCode, WorkerReport
from tests.worker.running_job import RunningJob
from tests.worker.test_rescaling import assert_same_parameters


def test_a_straggler_is_noticed_and_swapped_and_training_is_the_same(
    make_job: Callable[..., RunningJob], undisturbed: Callable[..., dict[str, Any]]
) -> None:
    job = make_job("--step-seconds", "0.02")
    job.begin_attempt(2)
    job.wait_for_workers(2)
    (slow,) = job.start_workers(1, "--step-seconds", "0.5")
    job.service.want(["w1", "w2", slow], 20)
    job.wait_for_workers(3)
    job.wait("the straggler is noticed", lambda: stragglers(job) == [slow])
    told = {worker["worker_id"]: worker for worker in reports(job)}
    assert told[slow]["compute_seconds"] > 2 * told["w1"]["compute_seconds"]

    job.service.want(["w1", "w2", "w4"], 20)
    job.wait_for_steps(4)  # the slow worker trains on until there is another
    (substitute,) = job.start_workers(1)
    job.wait_for_workers(3)
    job.wait_for_steps(4)
    job.end()

    sizes = [len(generation["workers"]) for generation in job.service.generations]
    assert sizes == [2, 3, 3]
    assert job.service.generations[-1]["workers"] == ["w1", "w2", substitute]
    assert job.exit_codes() == {"w1": 0, "w2": 0, slow: ExitCode.RELEASED, substitute: 0}
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def reports(job: RunningJob) -> list[WorkerReport]:
    return job.service.newest["workers"] if job.service.newest else []


def stragglers(job: RunningJob) -> list[str]:
    return [worker["worker_id"] for worker in reports(job) if worker.get("is_straggler")]
