"""Growing, shrinking and changing the batch change nothing but the speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from concertina_worker.batch.schedule import Schedule
from concertina_worker.protocol import BatchRules, ExitCode, GenerationReport
from tests.worker.running_job import RunningJob

RULES: BatchRules = {"base": 20, "lr_scaling": "linear", "lr_warmup_steps": 5, "max_per_gpu": 8}
MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


def assert_same_parameters(one: dict[str, Any], other: dict[str, Any], tolerance: float) -> None:
    assert one["epochs"] == other["epochs"]
    for a, b in zip(one["parameters"], other["parameters"], strict=True):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=0, atol=tolerance)
    assert one["rate"] == pytest.approx(other["rate"], rel=1e-12)


@pytest.mark.parametrize("optimizer", [(), ("--adam",)], ids=["momentum", "adam"])
def test_one_two_three_one_workers_train_like_one(
    make_job: MakeJob, undisturbed: Undisturbed, optimizer: tuple[str, ...]
) -> None:
    job = make_job(*optimizer, batch=RULES)  # alone, a worker needs three micro-batches a step
    job.begin_attempt(1)
    wanted = iter([2, 3, 1])
    seen: list[GenerationReport] = []

    def body(generation: GenerationReport) -> int | None:
        seen.append(generation)
        return next(wanted, None)

    job.play(body)

    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"], *optimizer), 1e-9)
    assert [len(generation["workers"]) for generation in seen] == [1, 2, 3, 1]
    assert [generation["transfer_seconds"] > 0.0 for generation in seen[1:]] == [True, True, False]
    assert job.exit_codes() == {"w1": 0, "w2": ExitCode.RELEASED, "w3": ExitCode.RELEASED}
    assert job.coordinator_code == 0


def test_clipped_steps_of_several_backwards_are_the_same_on_workers_without_samples(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    """With 3 workers and 97 samples the last batch of each epoch, of one sample, is for one."""
    arguments = ("--two-backwards", "--clip", "0.3")
    job = make_job(*arguments, batch={**RULES, "base": 32})
    job.begin_attempt(3, batch=32)
    job.wait_for_workers(3)
    job.wait_for_steps(8)
    job.end()
    results = [job.result(worker) for worker in ("w1", "w2", "w3")]
    job.assert_every_sample_once(epochs=results[0]["epochs"])
    assert_same_parameters(results[0], results[1], 0.0)
    assert_same_parameters(results[0], results[2], 0.0)
    alone = undisturbed(results[0]["epochs"], *arguments, "--batch-size", "32")
    assert_same_parameters(results[0], alone, 1e-12)


def test_scalers_and_averages_move_alike_on_all_workers(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    """Once an epoch a loss overflows, on one worker: all of them skip that step."""
    job = make_job("--scaled", "--clip", "0.3", batch=RULES)
    job.begin_attempt(1)
    wanted = iter([3, 2])
    job.play(lambda _: next(wanted, None))
    results = [job.result("w1"), job.result("w2")]
    job.assert_every_sample_once(epochs=results[0]["epochs"])
    assert_same_parameters(results[0], results[1], 0.0)
    alone = undisturbed(results[0]["epochs"], "--scaled", "--clip", "0.3")
    assert_same_parameters(results[0], alone, 1e-9)
    for result in results:
        assert result["scale"] == alone["scale"]
        for one, other in zip(result["average"], alone["average"], strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


def test_a_compiled_model_trains_like_any_other(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job("--compile", batch=RULES)
    job.begin_attempt(1)
    wanted = iter([2, 1])
    job.play(lambda _: next(wanted, None))
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def test_workers_that_begin_together_start_from_the_weights_of_the_first(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job("--batch-norm")
    job.begin_attempt(3)
    job.play(lambda _: None)
    results = [job.result(worker) for worker in ("w1", "w2", "w3")]
    assert_same_parameters(results[0], results[1], 0.0)
    assert_same_parameters(results[0], results[2], 0.0)
    job.assert_every_sample_once(epochs=results[0]["epochs"])


def test_a_batch_change_keeps_workers_and_samples_and_scales_the_rate(make_job: MakeJob) -> None:
    job = make_job(batch=RULES)
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait("there is a metric", lambda: job.service.metrics)
    job.resize(2, batch=33)
    generation = job.wait_for_workers(2)
    assert generation["global_batch_size"] == 33
    job.wait_for_steps(10)
    job.end()
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"])
    sizes = {line["stop"] - line["start"] for line in job.audit_lines()}
    assert {20, 33} <= sizes
    assert job.service.newest is not None
    assert job.service.newest["noise_scale"] > 0
    newest = job.service.metrics[-1]
    own_rate = 0.05 * 0.999 ** base_steps_before(job, newest["step"], base=20)
    assert newest["learning_rate"] == pytest.approx(own_rate * 33 / 20)
    first = job.service.metrics[0]
    assert first["learning_rate"] == pytest.approx(0.05 * 0.999 ** (first["step"] - 1))
    assert job.exit_codes() == {"w1": 0, "w2": 0}


def base_steps_before(job: RunningJob, step: int, *, base: int) -> int:
    """How often a schedule that goes by samples has been stepped before this step."""
    done = {
        (line["step"], line["start"], line["stop"])
        for line in job.audit_lines()
        if line["step"] < step
    }
    schedule = Schedule()
    for _, start, stop in sorted(done):
        schedule = schedule.after(range(start, stop), length=97, base=base)
    return int(schedule.steps)


def test_every_worker_can_be_replaced(make_job: MakeJob, undisturbed: Undisturbed) -> None:
    job = make_job()
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.wait_for_steps(4)
    newcomer = job.start_workers(1)
    job.service.want(newcomer, 20)
    job.wait_for_workers(1)
    job.wait_for_steps(4)
    job.end()
    result = job.result("w2")
    assert job.exit_codes() == {"w1": ExitCode.RELEASED, "w2": 0}
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def test_a_joiner_that_never_comes_holds_nobody_up(make_job: MakeJob) -> None:
    job = make_job()
    job.begin_attempt(3)
    job.wait_for_workers(3)
    job.service.want(["w1", "ghost"], 20)  # w2 stays in the place of the ghost, w3 in nobody's
    job.wait("w3 has left", lambda: job.exit_codes()["w3"] is not None)
    assert job.exit_codes() == {"w1": None, "w2": None, "w3": ExitCode.RELEASED}
    job.wait_for_steps(4)
    job.end()
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"])


def test_reports_tell_progress_and_measurements(make_job: MakeJob) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait_for_steps(60)
    job.end()
    metrics = job.service.metrics
    assert [m["step"] for m in metrics] == sorted(m["step"] for m in metrics)
    assert metrics[-1]["values"]["final"] == 1.0
    assert metrics[-1]["samples"] == 97 * job.result("w1")["epochs"]
    assert metrics[-1]["local_batch_size"] <= 10
    newest = job.service.newest
    assert newest is not None
    assert newest["finished"]
    assert newest["registered"]
    assert newest["model_bytes"] > 0
    assert newest["total_samples"] == 97 * 100_000
    (measurement,) = newest["measurements"]
    assert (measurement["workers"], measurement["global_batch_size"]) == (2, 20)
    assert measurement["step_seconds"] >= 0.02
