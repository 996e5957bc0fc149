"""Real jobs that read their data through loading processes, streams and data that differ."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_failures import wait_for_a_loss
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters

READING = Path(__file__).parents[1] / "scripts" / "reading.py"
MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("arguments", "tolerance"),
    [
        (("--processes", "2"), 1e-12),
        (("--stream", "--tells", "--adam", "--single"), 1e-5),
    ],
    ids=["loading processes, momentum, float64", "stream, Adam, float32"],
)
def test_one_two_three_two_workers_train_like_one_whatever_is_loaded_ahead(
    make_job: MakeJob, undisturbed: Undisturbed, arguments: tuple[str, ...], tolerance: float
) -> None:
    arguments = (*arguments, "--samples", "500")
    job = make_job(*arguments)
    job.script = READING
    job.begin_attempt(1)
    wanted = iter([2, 3, 2])
    job.play(lambda _: next(wanted, None))
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"], samples=500)
    alone = undisturbed(result["epochs"], *arguments, script=READING)
    assert_same_parameters(result, alone, tolerance)
    assert_same_parameters(result, job.result("w2"), 0.0)
    if "--tells" in arguments:
        first = [re.search(r"goes on at (\d+)", job.log_of(name)) for name in ("w2", "w3")]
        assert any(found and found[1] != "0" for found in first), job.logs()


def test_a_killed_worker_takes_its_loading_processes_along_and_they_hold_no_connection(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job("--processes", "2", "--persistent")
    job.script = READING
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    loaders = psutil.Process(job.processes["w2"].pid).children()
    assert len(loaders) == 2
    assert [loader.net_connections(kind="inet") for loader in loaders] == [[], []]
    assert all(os.getpgid(loader.pid) == loader.pid for loader in loaders), "no signal hits them"
    job.kill("w2")
    wait_for_a_loss(job, "w2")
    _, alive = psutil.wait_procs(loaders, timeout=90)
    assert not alive
    job.wait_for_steps(4)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    alone = undisturbed(result["epochs"], "--processes", "2", script=READING)
    assert_same_parameters(result, alone, 1e-12)


def test_a_worker_that_sees_another_number_of_samples_must_go(
    make_job: MakeJob,
) -> None:
    job = make_job("--samples", "50", "--stream", "--processes", "1")
    job.script = READING
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.wait_for_steps(2)
    stranger = job.start_workers(1, "--samples", "45")
    job.service.want(["w1", *stranger], 20)
    wait_for_a_loss(job, "w2")
    job.wait("it says why", lambda: "Mismatch" in job.log_of("w2"))
    assert "45" in job.log_of("w2")
    assert "every worker must see the same samples" in job.log_of("w2")
    job.wait_for_steps(4)
    job.end()
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"], samples=50)


def test_a_job_does_not_resume_in_mid_epoch_with_another_number_of_samples(
    make_job: MakeJob,
) -> None:
    job = make_job("--samples", "2000")
    job.script = READING
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.wait_for_steps(4)
    job.service.want_stop()
    job.wait_until_finished()
    job.script_arguments = (*job.script_arguments, "--samples", "1990")
    job.begin_attempt(1)
    job.start_coordinator()  # that hears of a stop once more ends again
    job.wait("it ends", lambda: job.exit_codes()["w2"] is not None)
    assert job.exit_codes()["w2"] == 1
    assert "has 1990 samples, but the epoch has begun with 2000" in job.log_of("w2")
