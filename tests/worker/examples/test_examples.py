"""Every example trains while its workers come and go, and alone, with nothing changed for it."""

from __future__ import annotations

import difflib
import re
import runpy
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch.distributed import checkpoint
from torch.nn import functional

from concertina_worker.protocol import BatchRules, ExitCode
from tests.ports import free_port
from tests.worker.running_job import RunningJob, alone_environment, wait_for
from tests.worker.worker_zygote import BRIEFLY, WorkerZygote

EXAMPLES = Path(__file__).parents[3] / "examples"
PACED = Path(__file__).parents[1] / "scripts" / "paced.py"
BASE_OF_64: BatchRules = {
    "base": 64,
    "lr_scaling": "linear",
    "lr_warmup_steps": 0,
    "max_per_gpu": None,
}
SLOW_IMPORTS = (
    "sklearn.datasets",
    "pytorch_lightning",
    "transformers.trainer",
    "torch.distributed.checkpoint.state_dict",
)


@dataclass(frozen=True, kw_only=True)
class Example:
    """How long to run it, and what it logs that must fall."""

    epochs: int
    samples: int
    steps: int = 0  # of an example that counts them instead of epochs
    falls: str = "loss"
    batch: int = 64
    arguments: tuple[str, ...] = ()

    @property
    def length(self) -> tuple[str, str]:
        return ("--steps", str(self.steps)) if self.steps else ("--epochs", str(self.epochs))


HOT = {  # of 80 steps at least: see `paced`
    "digits_cnn": Example(epochs=4, samples=1437, arguments=("--width", "8")),
    "stdlib_transformer": Example(
        epochs=4,
        samples=400,
        batch=16,
        arguments=("--stretches", "400", "--length", "16", "--width", "16"),
    ),
    "language_model": Example(
        epochs=1,
        samples=120 * 64,
        steps=120,
        arguments=("--length", "16", "--width", "16", "--evaluate-every", "10"),
    ),
    "sharded_transformer": Example(
        epochs=4,
        samples=400,
        batch=16,
        arguments=("--stretches", "400", "--length", "16", "--width", "16", "--layers", "1"),
    ),
    "ddp_digits": Example(epochs=3, samples=1797),
    "gan": Example(epochs=30, samples=178, falls="distance", batch=32),
    "mixed_precision": Example(epochs=4, samples=1437),
    "lightning_digits": Example(epochs=3, samples=1797),
    "transformers_trainer": Example(epochs=10, samples=512, arguments=("--samples", "512")),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerZygote]:
    """A zygote that has imported what takes seconds."""
    zygote = WorkerZygote(tmp_path_factory.mktemp("zygotes"), *SLOW_IMPORTS)
    yield zygote
    zygote.close()


@pytest.fixture
def start(tmp_path: Path, prepared: WorkerZygote) -> Iterator[Callable[..., RunningJob]]:
    jobs = []

    def start(name: str, batch: BatchRules | None = None) -> RunningJob:
        example = (str(EXAMPLES / f"{name}.py"), *HOT[name].length)
        arguments = (str(tmp_path / "stop"), *example, *HOT[name].arguments)
        job = RunningJob(tmp_path, prepared, script=PACED, script_arguments=arguments, batch=batch)
        jobs.append(job)
        job.start_coordinator()
        return job

    yield start
    for job in jobs:
        job.close()


@pytest.mark.parametrize("name", HOT)
def test_it_grows_and_shrinks_and_learns(name: str, start: Callable[..., RunningJob]) -> None:
    job, example = start(name), HOT[name]
    job.service.want(job.start_workers(1, attempt=1), example.batch, new_attempt=True)
    for count in (1, 3, 2):
        job.resize(count, batch=example.batch)
        job.wait_for_workers(count)
        job.wait_for_steps(3)
    job.end()
    assert job.exit_codes() == {"w1": 0, "w2": 0, "w3": ExitCode.RELEASED}, job.logs()
    job.assert_every_sample_once(epochs=example.epochs, samples=example.samples)
    told = [m["values"][example.falls] for m in job.service.metrics if m["values"]]
    assert told[-1] < 0.8 * told[0]


@pytest.mark.parametrize("name", HOT)
def test_it_runs_alone(name: str, tmp_path: Path, prepared: WorkerZygote) -> None:
    script = EXAMPLES / f"{name}.py"
    audit = {"CONCERTINA_SAMPLE_AUDIT_DIR": str(tmp_path)}
    environment = {**alone_environment(), **BRIEFLY, **audit}
    length = HOT[name].length if HOT[name].steps else ("--epochs", "1")
    argv = [str(script), *length, *HOT[name].arguments]
    process = prepared.start(argv, environment, tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "alone.jsonl").read_text()


@pytest.mark.parametrize("name", ["language_model.py", "sharded_transformer.py"])
def test_a_plain_script_and_the_elastic_one_differ_little(name: str) -> None:
    plain, ours = (
        (EXAMPLES / one).read_text().partition("from __future__")[2].splitlines()
        for one in (f"plain_{name}", name)
    )
    changed = [line for line in difflib.ndiff(plain, ours) if line[:2] in {"+ ", "- "}]
    written = [line for line in changed if line.startswith("+ ") and line[2:].strip()]
    assert 5 < len(written) <= 10, changed


def test_the_plain_script_that_counts_steps_runs(tmp_path: Path, prepared: WorkerZygote) -> None:
    argv = [str(EXAMPLES / "plain_language_model.py"), "--steps", "20", "--evaluate-every", "10"]
    process = prepared.start([*argv, "--width", "16"], {}, tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert re.findall(r"step (\d+) ", (tmp_path / "log").read_text()) == ["10", "20"]


def test_the_plain_script_that_is_sharded_runs(tmp_path: Path, prepared: WorkerZygote) -> None:
    small = ("--epochs", "1", "--stretches", "64", "--length", "8", "--width", "8", "--layers", "1")
    place = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    argv = [str(EXAMPLES / "plain_sharded_transformer.py"), *small]
    process = prepared.start(argv, place, tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert "epoch 1 loss" in (tmp_path / "log").read_text()


def test_the_main_worker_alone_evaluates_at_each_multiple_of_its_steps(
    tmp_path: Path, start: Callable[..., RunningJob]
) -> None:
    """However its batch changes: with twice the base batch each step counts two."""
    job = start("language_model", batch=BASE_OF_64)
    job.service.want(job.start_workers(1, attempt=1), 64, new_attempt=True)
    for count, batch in ((1, 64), (2, 128)):
        job.resize(count, batch=batch)
        job.wait_for_workers(count)
        job.wait_for_steps(3)
    job.end()
    assert set(job.exit_codes().values()) == {0}, job.logs()
    job.assert_every_sample_once(epochs=1, samples=120 * 64)
    steps = [int(step) for step in re.findall(r"step (\d+) loss", job.logs())]
    assert [(step + 1) // 10 for step in steps] == [*range(1, 13)]  # with 128: 9 or 10 of 10
    assert job.service.metrics[-1]["samples"] == 120 * 64


def test_the_torchrun_example_runs_alone_and_resumes(
    tmp_path: Path, prepared: WorkerZygote
) -> None:
    """How it is rescaled is tested where the service starts and ends its workers."""
    log = tmp_path / "log"
    for epochs in ("1", "2"):
        argv = [str(EXAMPLES / "torchrun_ddp.py"), "--epochs", epochs]
        argv += ["--checkpoint", str(tmp_path / "digits.pt")]
        process = prepared.start(argv, {}, log)
        wait_for(lambda process=process: process.poll() is not None)
        assert process.poll() == 0, log.read_text()
    told = re.findall(r"(resumed at epoch \d|epoch \d)", log.read_text())
    assert told == ["epoch 1", "resumed at epoch 2", "epoch 2"]


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")  # as it is here
def test_a_sharded_model_is_laid_out_anew_for_each_number_of_workers(
    tmp_path: Path, prepared: WorkerZygote
) -> None:
    """With 2, 3 and 1 of them in turn it trains as the same model does that is whole."""
    script, folder = EXAMPLES / "fully_sharded.py", tmp_path / "checkpoints"
    steps = 0
    for count in (2, 3, 1):
        log = tmp_path / f"log-{count}"
        argv = [str(script), "--checkpoints", str(folder)]
        argv += ["--steps", str(steps + 20 if count == 1 else 1_000_000)]
        place = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1"}
        place["MASTER_PORT"] = str(free_port())
        workers = [prepared.start(argv, {**place, "RANK": str(rank)}, log) for rank in range(count)]
        wait_for(lambda log=log, count=count: f"workers {count}" in log.read_text())
        if count > 1:
            workers[-1].signal(signal.SIGTERM)  # all agree to stop; the others may be gone by then
        wait_for(lambda workers=workers: all(one.poll() is not None for one in workers))
        assert {one.poll() for one in workers} == {0}, log.read_text()
        assert (f"resumed at step {steps}" in log.read_text()) is (steps > 0)
        steps = int((folder / "newest").read_text().removeprefix("step-"))
    assert {one.name for one in folder.iterdir()} == {"newest", f"step-{steps}"}
    example = runpy.run_path(str(script))
    plain, found = example["make_model"](), example["make_model"]().state_dict()
    optimizer = example["make_optimizer"](plain)
    for step in range(steps):
        images, labels = example["batch_of"](step)
        optimizer.zero_grad()
        functional.cross_entropy(plain(images), labels).backward()
        optimizer.step()
    checkpoint.load({"model": found}, checkpoint_id=folder / f"step-{steps}", no_dist=True)
    torch.testing.assert_close(found, dict(plain.state_dict()), rtol=0, atol=1e-4)
