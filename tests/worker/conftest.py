"""Real jobs for the worker tests, and what an undisturbed one ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import campaigns
from tests.worker.coordinator_story import Story
from tests.worker.running_job import SCRIPT, RunningJob, alone_environment, read_result, wait_for
from tests.worker.worker_zygote import BRIEFLY, WorkerZygote

# Their workers end as those of users do, and with `--thorough` all do: nothing of PyTorch's may be
# left running then.
WHOLE_ENDS = {"test_early_end", "test_failures", "test_script_errors"}
MANY_EPOCHS = ("--epochs", "100000", "--samples", "97")


@pytest.fixture
def story() -> Story:
    return Story()


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerZygote]:
    zygote = WorkerZygote(tmp_path_factory.mktemp("zygotes"))
    yield zygote
    zygote.close()


@pytest.fixture
def make_job(
    tmp_path: Path, zygote: WorkerZygote, request: pytest.FixtureRequest
) -> Iterator[Callable[..., RunningJob]]:
    jobs: list[RunningJob] = []
    ends_briefly = request.path.stem not in WHOLE_ENDS and not campaigns.are_whole()

    def make(*script_arguments: str, **settings: Any) -> RunningJob:
        arguments = (*MANY_EPOCHS, *script_arguments)
        job = RunningJob(
            tmp_path, zygote, script_arguments=arguments, ends_briefly=ends_briefly, **settings
        )
        jobs.append(job)
        job.start_coordinator()
        return job

    yield make
    for job in jobs:
        job.close()
        job.assert_nobody_aborted()


@pytest.fixture
def undisturbed(tmp_path: Path, zygote: WorkerZygote) -> Callable[..., dict[str, Any]]:
    """The result of the same script, run alone from beginning to end."""

    def run(epochs: int, *script_arguments: str, script: Path = SCRIPT) -> dict[str, Any]:
        out = tmp_path / "undisturbed"
        argv = [str(script), "--out", str(out), "--model-seed", "1", "--step-seconds", "0"]
        argv += ["--samples", "97", "--epochs", str(epochs), *script_arguments]
        environment = {**alone_environment(), **BRIEFLY}
        process = zygote.start(argv, environment, tmp_path / "undisturbed.log")
        wait_for(lambda: process.poll() is not None)
        assert process.poll() == 0, (tmp_path / "undisturbed.log").read_text()
        return read_result(out, "alone")

    return run
