"""`job.mean`, and where a worker stands, when a member is lost or shares differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from concertina_worker.protocol import BatchRules
from tests.worker.running_job import RunningJob
from tests.worker.worker_zygote import WorkerZygote

SCRIPT = Path(__file__).parents[1] / "scripts" / "means.py"
RULES: BatchRules = {"base": 21, "lr_scaling": "none", "lr_warmup_steps": 0, "max_per_gpu": 10}
EPOCHS = 2
STEPS_OF_EPOCH = 5  # of 21 of 97 samples
TakeMeans = Callable[..., RunningJob]


@pytest.fixture
def take_means(tmp_path: Path, zygote: WorkerZygote) -> Iterator[TakeMeans]:
    jobs: list[RunningJob] = []

    def start(workers: int, *arguments: str, **settings: Any) -> RunningJob:
        arguments = (str(tmp_path), *arguments)
        job = RunningJob(tmp_path, zygote, script=SCRIPT, script_arguments=arguments, **settings)
        jobs.append(job)
        job.start_coordinator()
        job.service.want(job.start_workers(workers, attempt=1), 21, new_attempt=True)
        return job

    yield start
    for job in jobs:
        job.close()


def test_survivors_between_epochs_are_not_all_the_main_worker(
    take_means: TakeMeans, tmp_path: Path
) -> None:
    job = take_means(3)
    job.wait_for_workers(3)
    job.wait_for_steps(4)
    (tmp_path / "now").touch()
    files = {worker: tmp_path / f"{worker}.json" for worker in ("w1", "w3")}
    job.wait("both have seen the loss", lambda: all(file.exists() for file in files.values()))
    job.wait_until_finished()
    seen = {worker: json.loads(file.read_text()) for worker, file in files.items()}
    assert seen == {"w1": [True, 3, 1.0], "w3": [False, 3, 1.0]}


def test_a_mean_that_only_the_main_worker_takes_is_an_error_on_all_that_names_the_line(
    take_means: TakeMeans,
) -> None:
    job = take_means(3, "main-alone")
    job.wait("all have ended", lambda: None not in job.exit_codes().values())
    assert set(job.exit_codes().values()) == {1}
    source = SCRIPT.read_text().splitlines()
    line = source.index('        mean = job.mean(float((folder / "now").exists()))') + 1
    for worker in ("w1", "w2", "w3"):
        assert f"job.mean was called in line {line} on some workers only" in job.log_of(worker)


def test_a_mean_for_every_micro_batch_is_one_of_all_workers_once_a_step(
    take_means: TakeMeans, tmp_path: Path
) -> None:
    job = take_means(2, "for-every-micro-batch", batch=RULES)  # 11 samples: two micro-batches
    job.wait_until_finished()
    assert job.exit_codes() == {"w1": 0, "w2": 0}, job.logs()
    seen = {
        worker: json.loads((tmp_path / f"{worker}.json").read_text()) for worker in ("w1", "w2")
    }
    steps = job.step
    assert steps == EPOCHS * STEPS_OF_EPOCH
    assert [values.count(1.5) for values in seen.values()] == [steps, steps]
    own = [[value for value in values if value != 1.5] for values in seen.values()]
    assert set(own[0]) <= {1.0}
    assert set(own[1]) <= {2.0}
    assert own != [[], []]
