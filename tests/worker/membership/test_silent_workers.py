"""Workers that fail without dying, and survivors that are not equally far."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

from concertina_worker.protocol import ExitCode
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_failures import wait_for_a_loss
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters

MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


def make_doomed_job(make_job: MakeJob, tmp_path: Any) -> RunningJob:
    return make_job("--doom", str(tmp_path / "dooms"))


def test_a_stopped_worker_is_replaced_while_it_still_stands_and_goes_when_it_wakes(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job()
    job.begin_attempt(3)
    job.wait_for_workers(3)
    job.wait_for_steps(20)
    job.stop("w2")
    wait_for_a_loss(job, "w2")
    assert job.exit_codes()["w2"] is None
    newest = job.service.newest
    assert newest is not None
    given_up = [worker["worker_id"] for worker in newest["workers"] if worker.get("given_up")]
    assert given_up == ["w2"]
    job.wait_for_steps(4)
    joiner = job.start_workers(1)
    job.service.want(["w1", "w3", *joiner], 20)
    job.wait_for_workers(3)
    job.processes["w2"].signal(signal.SIGCONT)
    job.wait("w2 goes", lambda: job.exit_codes()["w2"] is not None)
    assert job.exit_codes()["w2"] == ExitCode.RELEASED
    job.wait_for_steps(4)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
    assert_same_parameters(result, job.result(joiner[0]), 0.0)


def test_survivors_that_are_a_step_apart_go_on_from_the_one_that_is_further(
    make_job: MakeJob, undisturbed: Undisturbed, tmp_path: Any
) -> None:
    """In step 10 one worker dies when it has committed, and another did not get the last sum."""
    job = make_doomed_job(make_job, tmp_path)
    job.doom("w2", "exchanged", passing=10, way="lose the group")
    job.doom("w3", "commit", passing=10)
    job.begin_attempt(3)
    wait_for_a_loss(job, "w3")
    job.wait_for_steps(4)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
    assert_same_parameters(result, job.result("w2"), 0.0)
    assert steps_of(job, "w1")[:11] == list(range(1, 12))
    assert steps_of(job, "w2")[:10] == [*range(1, 10), 11]


def steps_of(job: RunningJob, worker: str) -> list[int]:
    """The steps a worker has committed itself."""
    lines = (job.folder / "audit" / f"{worker}.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]
