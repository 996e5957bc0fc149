"""A joiner's state arrives beside several steps; whoever is lost meanwhile, nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concertina_worker.protocol import ExitCode
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters

PORTIONS = 4  # weights and biases of two layers
MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


def lines_of(job: RunningJob, worker: str) -> list[dict[str, Any]]:
    """What a worker has noted of its steps."""
    lines = (job.folder / "audit" / f"{worker}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def idle_steps(job: RunningJob, worker: str) -> int:
    """Steps that a worker made before it had samples of its own."""
    own = [line["share"] for line in lines_of(job, worker)]
    return next((count for count, share in enumerate(own) if share[0] < share[1]), len(own))


@pytest.mark.parametrize("optimizer", [(), ("--adam",)], ids=["momentum", "adam"])
def test_growing_by_state_in_portions_changes_nothing(
    make_job: MakeJob, undisturbed: Undisturbed, optimizer: tuple[str, ...]
) -> None:
    samples = ("--samples", "997")  # 50 steps an epoch, whose end would hurry the state on
    job = make_job("--one-portion-a-step", *samples, *optimizer)
    job.begin_attempt(1)
    wanted = iter([2, 3, 1])
    job.play(lambda _: next(wanted, None))
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"], samples=997)
    assert_same_parameters(result, undisturbed(result["epochs"], *samples, *optimizer), 1e-9)
    assert job.exit_codes() == {"w1": 0, "w2": ExitCode.RELEASED, "w3": ExitCode.RELEASED}
    assert idle_steps(job, "w1") == 0
    for name in ("w2", "w3"):
        is_hurried = lines_of(job, name)[0]["stop"] == 997
        assert idle_steps(job, name) in range(1 if is_hurried else 2, PORTIONS + 2)


@pytest.mark.parametrize("victim", ["w1", "w3"], ids=["the source", "the joiner"])
def test_a_worker_lost_between_two_portions_takes_nothing_along(
    make_job: MakeJob, undisturbed: Undisturbed, tmp_path: Path, victim: str
) -> None:
    job = make_job("--one-portion-a-step", "--doom", str(tmp_path / "dooms"))
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.doom(victim, "between portions", passing=3)
    job.resize(3)
    job.wait(f"{victim} is lost", lambda: job.exit_codes().get(victim) is not None)
    job.wait_for_steps(8)
    job.end()
    survivors = sorted({"w1", "w2", "w3"} - {victim})
    results = [job.result(name) for name in survivors]
    job.assert_every_sample_once(epochs=results[0]["epochs"])
    assert_same_parameters(results[0], undisturbed(results[0]["epochs"]), 1e-9)
    assert_same_parameters(results[0], results[1], 0.0)


@pytest.mark.parametrize("checkpoint_seconds", [60.0, 0.5], ids=["no checkpoint", "a checkpoint"])
def test_losing_the_only_holder_of_state_between_two_portions_starts_again(
    make_job: MakeJob, undisturbed: Undisturbed, tmp_path: Path, checkpoint_seconds: float
) -> None:
    portion = ("--one-portion-a-step", "--doom", str(tmp_path / "dooms"), "--model-seed", "1")
    job = make_job(*portion, checkpoint_seconds=checkpoint_seconds)
    job.begin_attempt(1)
    if checkpoint_seconds < 60:
        job.wait("a checkpoint is written", job.checkpoints)
        job.wait_for_steps(7)  # into another epoch
    job.wait_for_steps(7)
    job.doom("w1", "between portions", passing=3)
    job.resize(2)
    job.wait("w1 dies", lambda: job.exit_codes()["w1"] is not None)
    job.wait("w2 trains alone", lambda: job.members == ["w2"])
    job.wait_for_steps(8)
    job.end()
    generation = next(g for g in job.service.generations if g["workers"] == ["w2"])
    reached = max(line["step"] for line in lines_of(job, "w1"))
    made_again = reached - generation["step"]
    assert made_again - 1 <= generation["lost_steps"] <= made_again  # the last may be w1's alone
    assert generation["lost_steps"] > 0
    assert (generation["step"] == 0) == (checkpoint_seconds == 60)
    own = [line for line in lines_of(job, "w2") if line["generation"] == generation["number"]]
    assert own[0]["step"] == generation["step"] + 1
    result = job.result("w2")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
