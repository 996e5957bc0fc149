"""A slow worker in a real job: noticed by its own pace, and swapped while the others train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from concertina_worker.protocol import ExitCode, WorkerReport
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters


def test_a_straggler_is_noticed_and_swapped_and_training_is_the_same(
    make_job: Callable[..., RunningJob], undisturbed: Callable[..., dict[str, Any]]
) -> None:
    job = make_job("--step-seconds", "0.01", "--pace-seconds", "0.2")  # rounds of the rule
    job.begin_attempt(2)
    job.wait_for_workers(2)
    (slow,) = job.start_workers(1, "--step-seconds", "0.25")
    job.service.want(["w1", "w2", slow], 20)
    job.wait_for_workers(3)
    job.wait("the straggler is noticed", lambda: told_slow(job) == [slow])

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


def told_slow(job: RunningJob) -> list[str]:
    """Stragglers of the newest report, whose steps take at least twice as long as the first's."""
    workers: list[WorkerReport] = job.service.newest["workers"] if job.service.newest else []
    seconds = {one["worker_id"]: one.get("compute_seconds", 0.0) for one in workers}
    return [
        one["worker_id"]
        for one in workers
        if one.get("is_straggler") and seconds[one["worker_id"]] > 2 * seconds.get("w1", 0.0)
    ]
