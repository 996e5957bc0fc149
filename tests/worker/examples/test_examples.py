"""Every example trains while its workers come and go, and alone, with nothing changed for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from concertina_worker.protocol import ExitCode
from tests.worker.running_job import RunningJob, alone_environment, wait_for
from tests.worker.worker_zygote import BRIEFLY, WorkerZygote

EXAMPLES = Path(__file__).parents[3] / "examples"
PACED = Path(__file__).parents[1] / "scripts" / "paced.py"
SLOW_IMPORTS = ("sklearn.datasets", "pytorch_lightning", "transformers.trainer")


@dataclass(frozen=True, kw_only=True)
class Example:
    """How long to run it, and what it logs that must fall."""

    epochs: int
    samples: int
    falls: str = "loss"
    batch: int = 64
    arguments: tuple[str, ...] = ()


HOT = {
    "digits_cnn": Example(epochs=4, samples=1437, arguments=("--width", "8")),
    "stdlib_transformer": Example(
        epochs=8, samples=600, arguments=("--stretches", "600", "--length", "32", "--width", "16")
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
def start(tmp_path: Path, prepared: WorkerZygote) -> Iterator[Callable[[str], RunningJob]]:
    jobs = []

    def start(name: str) -> RunningJob:
        example = (str(EXAMPLES / f"{name}.py"), "--epochs", str(HOT[name].epochs))
        arguments = (str(tmp_path / "stop"), *example, *HOT[name].arguments)
        job = RunningJob(tmp_path, prepared, script=PACED, script_arguments=arguments)
        jobs.append(job)
        job.start_coordinator()
        return job

    yield start
    for job in jobs:
        job.close()


@pytest.mark.parametrize("name", HOT)
def test_it_grows_and_shrinks_and_learns(name: str, start: Callable[[str], RunningJob]) -> None:
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
    argv = [str(script), "--epochs", "1", *HOT[name].arguments]
    process = prepared.start(argv, environment, tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "alone.jsonl").read_text()


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
