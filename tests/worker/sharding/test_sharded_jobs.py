"""Workers come and go, each with a part of the model, and train like one that has all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from concertina_worker.checkpoint_files import CheckpointName
from concertina_worker.protocol import BatchRules, ExitCode, GenerationReport
from concertina_worker.state.checkpoints.weights import read
from tests.worker.running_job import SCRIPTS, RunningJob
from tests.worker.scripts.sharded import build_model

SCRIPT = SCRIPTS / "sharded.py"
RULES: BatchRules = {"base": 20, "lr_scaling": "linear", "lr_warmup_steps": 5, "max_per_gpu": 6}
TOLERANCE = 1e-12
"""Sums in another order differ in the last digits of float64; steps add up to a few of them."""


@pytest.fixture
def sharded_job(make_job: Callable[..., RunningJob], tmp_path: Path) -> Callable[..., RunningJob]:
    def make(**settings: Any) -> RunningJob:
        outputs = ("--out", str(tmp_path / "out"), "--stop-file", str(tmp_path / "stop"))
        arguments = (*outputs, "--doom", str(tmp_path / "dooms"))
        return make_job(*arguments, script=SCRIPT, batch=RULES, **settings)

    return make


def assert_like_one_with_all_of_it(
    result: dict[str, Any], undisturbed: Callable[..., dict[str, Any]]
) -> None:
    alone = undisturbed(result["epochs"], "--whole", script=SCRIPT)
    for ours, theirs in zip(result["parameters"], alone["parameters"], strict=True):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=0, atol=TOLERANCE)
    assert result["rate"] == alone["rate"]


def test_two_three_one_four_workers_with_parts_train_like_one_with_all(
    sharded_job: Callable[..., RunningJob], undisturbed: Callable[..., dict[str, Any]]
) -> None:
    job = sharded_job()
    job.begin_attempt(2)
    wanted = iter([3, 1, 4])
    seen: list[GenerationReport] = []

    def body(generation: GenerationReport) -> int | None:
        seen.append(generation)
        return next(wanted, None)

    job.play(body)

    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_like_one_with_all_of_it(result, undisturbed)
    assert [len(generation["workers"]) for generation in seen] == [2, 3, 1, 4]
    assert [generation["lost_steps"] for generation in seen] == [0, 0, 0, 0]
    assert {*job.exit_codes().values()} == {0, ExitCode.RELEASED}


@pytest.mark.parametrize(
    "moment",
    [
        "forward",
        "rows",
        *(pytest.param(more, marks=pytest.mark.thorough) for more in ("backward", "mean", "any")),
    ],
)
def test_after_a_loss_all_go_back_to_the_newest_checkpoint(
    sharded_job: Callable[..., RunningJob],
    undisturbed: Callable[..., dict[str, Any]],
    moment: str,
) -> None:
    """In the middle of a pass, of a switch, in which rows are under way, or between epochs."""
    job = sharded_job(checkpoint_seconds=0.2)
    job.begin_attempt(3)
    job.wait_for_workers(3)
    kept = job.folder / "checkpoints"
    job.wait("one has been kept since the beginning", lambda: len([*kept.glob("step-*.pt")]) > 1)
    if moment == "any":  # and its sockets stay open
        job.stop("w2")
    else:
        job.doom("w2", moment, passing=3 if moment.endswith("ward") else 1)
    if moment == "rows":
        job.resize(4)
    job.wait(
        "the loss is told",
        lambda: any("w2" in one["lost_workers"] for one in job.service.generations),
    )
    lost = next(one for one in job.service.generations if "w2" in one["lost_workers"])
    job.wait_for_steps(4)
    job.kill("w2")  # which may only be stopped
    job.end()

    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_like_one_with_all_of_it(result, undisturbed)
    made = [one["step"] for one in job.audit_lines() if one["generation"] < lost["number"]]
    assert lost["cause"] == "worker_lost"
    assert lost["step"] > 0, "it went back to the beginning"
    assert lost["step"] + lost["lost_steps"] in {max(made), max(made) - 1}  # w2's own last step


def test_a_pause_loses_no_step_and_another_number_of_workers_goes_on(
    sharded_job: Callable[..., RunningJob], undisturbed: Callable[..., dict[str, Any]]
) -> None:
    job = sharded_job()
    job.begin_attempt(3)
    job.wait_for_workers(3)
    job.wait_for_steps(4)
    job.service.want_stop()
    job.wait_until_finished()
    step = job.step
    kept = max((job.folder / "checkpoints").glob("step-*.pt"))
    job.begin_attempt(2)
    job.start_coordinator()
    resumed = job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.end()

    assert resumed["step"] == step
    assert CheckpointName.of(kept.name) == CheckpointName(step=step)
    result = job.result("w4")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_like_one_with_all_of_it(result, undisturbed)
    weights = max((job.folder / "checkpoints").glob("*.safetensors"))
    assert {name: one.shape for name, one in read(weights).items()} == {
        name: one.shape for name, one in build_model().state_dict().items()
    }


@pytest.mark.parametrize(
    ("kind", "lengths"),
    [
        pytest.param(("--stream",), (60, 97), id="stream"),
        pytest.param((), (3, 97), id="data set"),
    ],
)
def test_whoever_has_other_data_than_the_first_leaves_with_an_error_and_the_first_goes_on(
    sharded_job: Callable[..., RunningJob], kind: tuple[str, ...], lengths: tuple[int, int]
) -> None:
    """They would make more passes, or fewer, and wait in them for each other."""
    job = sharded_job()
    workers = [
        job.start_workers(1, *kind, "--samples", str(length), attempt=1)[0] for length in lengths
    ]
    job.service.want(workers, 20, new_attempt=True)
    job.start_coordinator()
    job.wait("the second one has left", lambda: job.processes["w2"].poll() is not None)
    job.end()

    assert "every worker must see the same samples in the same order" in job.log_of("w2")
    assert job.exit_codes()["w1"] == 0
    job.assert_every_sample_once(epochs=job.result("w1")["epochs"], samples=lengths[0])
