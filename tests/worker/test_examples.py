"""Every example trains while its workers come and go, and alone, with nothing changed for it."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from concertina_worker.protocol import ExitCode
from tests.worker.running_job import RunningJob, alone_environment, free_port, wait_for
from tests.worker.worker_zygote import WorkerProcess, WorkerZygote

EXAMPLES = Path(__file__).parents[2] / "examples"
PACED = Path(__file__).parent / "scripts" / "paced.py"
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
    "digits_cnn": Example(epochs=8, samples=1437, arguments=("--width", "8")),
    "stdlib_transformer": Example(
        epochs=16, samples=600, arguments=("--stretches", "600", "--length", "32", "--width", "16")
    ),
    "ddp_digits": Example(epochs=20, samples=1797),
    "gan": Example(epochs=100, samples=178, falls="distance", batch=32),
    "mixed_precision": Example(epochs=10, samples=1437),
    "lightning_digits": Example(epochs=20, samples=1797),
    "transformers_trainer": Example(epochs=6, samples=512, arguments=("--samples", "512")),
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
    environment = {**alone_environment(), "CONCERTINA_SAMPLE_AUDIT_DIR": str(tmp_path)}
    argv = [str(script), "--epochs", "1", *HOT[name].arguments]
    process = prepared.start(argv, environment, tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "alone.jsonl").read_text()


def start_as_torchrun(
    zygote: WorkerZygote, folder: Path, workers: int, *arguments: str
) -> list[WorkerProcess]:
    """With the environment that the platform gives a worker in restart mode."""
    shared = {
        "WORLD_SIZE": str(workers),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "CONCERTINA_CHECKPOINT_DIR": str(folder / "checkpoints"),
    }
    argv = [str(EXAMPLES / "torchrun_ddp.py"), *arguments]
    return [
        zygote.start(argv, {**shared, "RANK": str(rank)}, folder / "log") for rank in range(workers)
    ]


def test_a_plain_torchrun_script_is_rescaled_by_restarts(
    tmp_path: Path, zygote: WorkerZygote
) -> None:
    log = tmp_path / "log"
    for workers in (1, 2):
        seen = log.read_text().count("loss") if log.exists() else 0
        running = start_as_torchrun(zygote, tmp_path, workers, "--epochs", "100000")
        enough = seen + 3
        wait_for(lambda enough=enough: log.read_text().count("loss") >= enough)
        for process in running:
            process.signal(signal.SIGTERM)
        for process in running:
            wait_for(lambda process=process: process.poll() is not None)
        assert [process.poll() for process in running] == [0] * workers, log.read_text()
    told = re.findall(r"epoch (\d+) loss (\S+) workers (\d)", log.read_text())
    assert [int(epoch) for epoch, *_ in told] == list(range(1, len(told) + 1))  # none lost
    assert {workers for *_, workers in told} == {"1", "2"}
    assert float(told[-1][1]) < 0.5 * float(told[0][1])
    (alone,) = start_as_torchrun(zygote, tmp_path, 1, "--epochs", str(len(told) + 1))
    wait_for(lambda: alone.poll() is not None)
    assert alone.poll() == 0, log.read_text()
    assert f"resumed at epoch {len(told) + 1}" in log.read_text()
