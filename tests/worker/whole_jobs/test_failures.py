"""Processes die at any moment; no step and no sample is lost that anybody still has."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.protocol import Env, ExitCode, GenerationCause
from tests.worker.running_job import (
    SCRIPT,
    RunningJob,
    alone_environment,
    read_result,
    wait_for,
)
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters
from tests.worker.worker_zygote import WorkerZygote

MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


def wait_for_a_loss(job: RunningJob, worker: str) -> None:
    def is_reported() -> bool:
        return any(worker in generation["lost_workers"] for generation in job.service.generations)

    job.wait(f"the loss of {worker} is reported", is_reported)


def test_survivors_of_a_killed_worker_lose_no_step_and_no_sample(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job()
    job.begin_attempt(4)
    job.wait_for_workers(4)
    job.wait_for_steps(4)
    for victim in ("w3", "w1"):  # a neighbour in the ring, then the main worker
        job.kill(victim)
        wait_for_a_loss(job, victim)
        job.wait_for_steps(4)
    job.resize(3)  # the replacement
    job.wait_for_workers(3)
    job.wait_for_steps(4)
    job.end()
    result = job.result("w2")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
    assert_same_parameters(result, job.result("w4"), 0.0)
    assert_same_parameters(result, job.result("w5"), 0.0)
    losses = [
        generation
        for generation in job.service.generations
        if generation["cause"] == GenerationCause.WORKER_LOST
    ]
    assert [loss["lost_workers"] for loss in losses] == [["w3"], ["w1"]]


def test_a_joiner_killed_while_it_joins_costs_nothing(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.resize(3)
    job.wait("the joiner is known", lambda: "w3" in job.log_of("coordinator"))
    job.kill("w3")
    job.wait_for_steps(8)
    job.resize(2)
    job.wait_for_workers(2)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def test_training_goes_on_without_coordinator_and_a_new_one_takes_over(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job()
    job.begin_attempt(2)
    before = job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.kill_coordinator()
    job.wait_for_steps(20)
    job.start_coordinator()
    job.resize(3)
    after = job.wait_for_workers(3)
    assert after["number"] == before["number"] + 1
    job.wait_for_steps(4)
    job.end()
    result = job.result("w3")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
    assert set(job.exit_codes().values()) == {0}


def test_a_worker_lost_while_there_is_no_coordinator_is_found_by_the_next(
    make_job: MakeJob,
) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.kill_coordinator()
    job.kill("w2")
    job.start_coordinator()
    wait_for_a_loss(job, "w2")
    job.wait_for_steps(4)
    job.end()
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"])


def test_reports_wait_for_a_service_that_is_away(make_job: MakeJob) -> None:
    job = make_job()
    job.begin_attempt(1)
    job.wait_for_workers(1)
    with job.service.changed:
        job.service.is_down = True
        told = len(job.service.metrics)
    job.wait_for_steps(120)
    assert len(job.service.metrics) == told
    job.service.is_down = False
    job.end()
    steps = [metric["step"] for metric in job.service.metrics]
    assert max(b - a for a, b in pairwise(steps)) < 100
    assert steps[-1] == job.step


def test_a_job_whose_workers_all_died_resumes_from_its_checkpoint(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = make_job("--adam", checkpoint_seconds=0.5)
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait(
        "the time of a step was told",
        lambda: any(metric["step_seconds"] for metric in job.service.metrics),
    )
    job.wait("of three checkpoints one is behind what was told", lambda: stopped_ahead(job))
    job.kill("w1")
    job.kill("w2")
    job.wait("both are gone", lambda: None not in job.exit_codes().values())
    memory = job.wait("the coordinator knows that nobody is left", lambda: memory_of_nobody(job))
    *_, newest = job.checkpoints()
    torn = [path for path in job.checkpoints() if step_of(path) >= memory.step] or [newest]
    for path in torn:  # so that what is left lies before a step that was told
        path.write_bytes(path.read_bytes()[:-100])
    older = [path for path in job.checkpoints() if path not in torn][-1]
    steps_before = job.step
    job.begin_attempt(2)
    generation = job.wait_for_workers(2)
    assert 0 < generation["step"] < steps_before
    assert f"{generation['step']:012d}" in older.name
    logs = job.log_of("w3") + job.log_of("w4")
    assert f"{newest} is skipped for the one before: it was not written to its end" in logs
    assert generation["lost_steps"] > 0
    assert generation["lost_work_seconds"] > 0.0
    job.wait_for_steps(4)
    job.end()
    result = job.result("w3")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"], "--adam"), 1e-9)


def stopped_ahead(job: RunningJob) -> bool:
    """Stop both workers while a checkpoint lies before the step that was told last, if one does."""

    def is_ahead() -> bool:
        checkpoints = job.checkpoints()
        told = job.service.metrics[-1]["step"]
        return len(checkpoints) == 3 and 0 < step_of(checkpoints[0]) < told

    if not is_ahead():
        return False
    signal_all(job, signal.SIGSTOP)
    if not is_ahead():
        signal_all(job, signal.SIGCONT)
        return False
    return True


def signal_all(job: RunningJob, number: signal.Signals) -> None:
    for process in job.processes.values():
        process.signal(number)


def memory_of_nobody(job: RunningJob) -> Memory | None:
    """What the coordinator knows, once it has noticed that nobody trains any more."""
    memory = StateFile(job.folder / "coordinator").load()
    return memory if memory.active is None else None


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.stem.removeprefix("step-"))


def test_a_paused_job_goes_on_where_it_was(make_job: MakeJob, undisturbed: Undisturbed) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.service.want_stop()
    job.wait_until_finished()
    assert job.exit_codes() == {"w1": ExitCode.RELEASED, "w2": ExitCode.RELEASED}
    assert job.coordinator_code == 0
    steps_before = job.step
    job.begin_attempt(1)
    job.start_coordinator()  # that hears of a stop once more ends again
    assert job.wait_for_workers(1)["step"] == steps_before
    job.wait_for_steps(4)
    job.end()
    result = job.result("w3")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def test_a_worker_told_to_end_leaves_after_the_step_and_the_others_go_on(
    make_job: MakeJob,
) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.processes["w1"].signal(signal.SIGTERM)
    job.wait("w1 has left", lambda: job.exit_codes()["w1"] is not None)
    job.wait_for_steps(4)
    job.processes["w2"].signal(signal.SIGTERM)
    job.wait("w2 has left", lambda: job.exit_codes()["w2"] is not None)
    assert job.exit_codes() == {"w1": ExitCode.RELEASED, "w2": ExitCode.RELEASED}
    assert f"{job.step:012d}" in job.checkpoints()[-1].name
    assert not [g for g in job.service.generations if g["lost_workers"]]


def test_a_script_that_raises_says_why_and_the_others_go_on(make_job: MakeJob) -> None:
    job = make_job()
    job.begin_attempt(1)
    job.wait_for_workers(1)
    faulty = job.start_workers(1, "--crash-at-step", "3")
    job.service.want(["w1", *faulty], 20)
    wait_for_a_loss(job, "w2")
    newest = job.service.newest
    assert newest is not None
    errors = {worker["worker_id"]: worker.get("error") for worker in newest["workers"]}
    assert errors["w2"] == "ValueError: the script has a fault"
    job.wait("w2 has ended", lambda: job.exit_codes()["w2"] is not None)
    assert job.exit_codes()["w2"] == 1
    job.end()
    assert job.exit_codes()["w1"] == 0
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"])


def test_a_worker_without_coordinator_for_too_long_stops_itself(make_job: MakeJob) -> None:
    job = make_job(coordinator_lost_seconds=5.0)
    job.wait_until_it_listens()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.kill_coordinator()
    job.wait("both have ended", lambda: None not in job.exit_codes().values())
    assert set(job.exit_codes().values()) == {ExitCode.COORDINATOR_LOST}
    assert job.checkpoints()


def test_survivors_of_a_loss_without_coordinator_keep_what_they_reached(make_job: MakeJob) -> None:
    job = make_job(coordinator_lost_seconds=5.0)
    job.wait_until_it_listens()
    job.begin_attempt(3)
    main, *survivors = job.wait_for_workers(3)["workers"]
    job.wait_for_steps(4)
    job.kill_coordinator()
    job.kill(main)
    job.wait("all have ended", lambda: None not in job.exit_codes().values())
    assert {job.exit_codes()[worker] for worker in survivors} == {ExitCode.COORDINATOR_LOST}
    assert job.checkpoints()[-1].name == f"step-{job.step:012d}.pt"


def test_a_second_coordinator_on_the_same_port_says_so(make_job: MakeJob) -> None:
    job = make_job()
    job.wait_until_it_listens()
    job.start_coordinator()
    job.wait("the second ends", lambda: job.coordinator_code is not None)
    assert job.coordinator_code == ExitCode.PORT_IN_USE


def test_a_script_alone_goes_on_where_sigterm_ended_it(
    tmp_path: Path, zygote: WorkerZygote, undisturbed: Undisturbed
) -> None:
    environment = {
        **alone_environment(),
        Env.CHECKPOINT_DIR: str(tmp_path / "checkpoints"),
        Env.SAMPLE_AUDIT_DIR: str(tmp_path / "audit"),
    }
    argv = [str(SCRIPT), "--out", str(tmp_path / "out"), "--samples", "97", "--epochs", "20"]
    audit = tmp_path / "audit" / "alone.jsonl"
    slowly = ("--model-seed", "1", "--step-seconds", "0.2")  # lest it end before the signal
    first = zygote.start([*argv, *slowly], environment, tmp_path / "log")
    wait_for(lambda: audit.exists() and len(audit.read_bytes().splitlines()) > 10)
    first.signal(signal.SIGTERM)
    wait_for(lambda: first.poll() is not None)
    assert first.poll() == ExitCode.RELEASED
    quickly = ("--model-seed", "2", "--step-seconds", "0")
    second = zygote.start([*argv, *quickly], environment, tmp_path / "log")
    wait_for(lambda: second.poll() is not None)
    assert second.poll() == 0, (tmp_path / "log").read_text()
    assert_same_parameters(read_result(tmp_path / "out", "alone"), undisturbed(20), 1e-12)
    assert len(audit.read_bytes().splitlines()) == 100
