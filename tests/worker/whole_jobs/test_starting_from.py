"""A job starts from what another has left: with its weights, or with all of its training."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import nn

from concertina_worker.checkpoint_files import START_STATE, START_WEIGHTS
from concertina_worker.protocol import Env
from concertina_worker.state.checkpoints.keeping import told_by
from tests.worker.running_job import RunningJob, alone_environment, read_result, wait_for
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters
from tests.worker.worker_zygote import BRIEFLY, WorkerZygote

MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]
BEST_TWO = '{"metric": "epoch_loss", "goal": "min", "n": 2}'


def left_by(checkpoint: Path, folder: Path, *, with_state: bool) -> Path:
    """What the service puts where a job starts from."""
    folder.mkdir()
    about = told_by(checkpoint)
    assert about is not None
    (weights,) = checkpoint.parent.glob(f"{checkpoint.stem}.{about.weights_digest[:16]}.*")
    shutil.copy(weights, folder / START_WEIGHTS)
    if with_state:
        shutil.copy(checkpoint, folder / START_STATE)
    return folder


def test_another_job_goes_on_where_one_ended_as_if_it_had_never_ended(
    make_job: MakeJob, undisturbed: Undisturbed, zygote: WorkerZygote, tmp_path: Path
) -> None:
    rules = {Env.CHECKPOINT_KEEP_BEST: BEST_TWO, Env.CHECKPOINT_KEEP_LAST: "1"}
    first = make_job("--epochs", "3", environment=rules)
    first.begin_attempt(2)
    first.wait_until_finished()
    *_, newest = first.checkpoints()
    start = left_by(newest, tmp_path / "start", with_state=True)
    argv = ["--epochs", "5", "--samples", "97", "--step-seconds", "0", "--out", str(tmp_path / "o")]
    process = zygote.start(
        [str(first.script), *argv],
        {**alone_environment(), **BRIEFLY, Env.START_FROM: str(start)},
        tmp_path / "second.log",
    )
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0, (tmp_path / "second.log").read_text()
    assert_same_parameters(read_result(tmp_path / "o", "alone"), undisturbed(5), 1e-9)

    told = {about.step: about for one in first.checkpoints() if (about := told_by(one))}
    losses = {step: about.measured("epoch_loss") for step, about in told.items()}
    assert [step for step, loss in losses.items() if loss is not None] == [10, 15]  # of 5, 10, 15
    assert told[15].epoch == 3.0


def handed_over(folder: Path, parameters: list[Any]) -> Path:
    """The weights of another job, where the service puts them."""
    names = ("0.weight", "0.bias", "2.weight", "2.bias")
    folder.mkdir()
    safetensors.torch.save_file(
        {n: torch.tensor(w, dtype=torch.float64) for n, w in zip(names, parameters, strict=True)},
        folder / START_WEIGHTS,
    )
    return folder


def test_all_workers_begin_with_the_weights_of_another_job(
    make_job: MakeJob, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    weights = undisturbed(1)["parameters"]
    start = handed_over(tmp_path / "start", weights)
    job = make_job("--epochs", "0", environment={Env.START_FROM: str(start)})
    job.begin_attempt(2)
    job.wait_until_finished()
    assert job.result("w1")["parameters"] == weights
    assert job.result("w2")["parameters"] == weights


def test_what_a_job_skips_of_another_begins_on_all_workers_as_its_script_made_it(
    make_job: MakeJob, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """As where a head is replaced: those of the other job have another shape."""
    trained = undisturbed(1)["parameters"]
    torch.manual_seed(1)  # as the first worker does
    made = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    own = [parameter.tolist() for parameter in made.parameters()]
    start = handed_over(tmp_path / "start", [*trained[:2], [[1.0] * 3], [1.0, 2.0]])
    skip = {Env.START_FROM: str(start), Env.START_SKIP: '["2.*"]'}
    job = make_job("--epochs", "0", environment=skip)
    job.begin_attempt(2)
    job.wait_until_finished()
    for worker in ("w1", "w2"):
        assert job.result(worker)["parameters"] == [*trained[:2], *own[2:]]
