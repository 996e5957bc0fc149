"""Every process of the service dies and the database hangs; training does not notice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from concertina_worker.coordinator.connections.service import TIMEOUT_SECONDS
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.sample_audit import assert_every_sample_once, committed_steps
from tests.end_to_end.waiting import REGISTRATION, job_of, until

DATABASE_AWAY_SECONDS = TIMEOUT_SECONDS + 2.0  # no report is answered meanwhile
STEPS_WITHOUT = 20  # while it is away
SAMPLES = 400


@pytest.fixture
def training(stack: RunningStack, scripts: Path, tmp_path: Path) -> Iterator[str]:
    """A job of two workers that trains until the file `stop` appears and records its samples."""
    script = str(scripts / "sleepy_regression.py")
    ending = ("--stop-file", str(tmp_path / "stop"))
    body = {
        "name": "unshaken",
        "command": ["python", script, "--samples", str(SAMPLES), *ending],
        "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(tmp_path / "audit")},
        "elastic": {"min_workers": 2, "max_workers": 2, "registration_timeout": REGISTRATION},
        "batch": {"global_batch_size": 32},
    }
    with stack.client("vision") as client:
        job_id = client.post("/api/v1/jobs", json=body).json()["id"]
        until(lambda: job_of(client, job_id)["step"] > 0, what="the first step")
        yield job_id


@pytest.mark.timeout(1200)
def test_a_job_trains_on_while_every_service_process_is_killed_and_the_database_hangs(
    stack: RunningStack, training: str, tmp_path: Path
) -> None:
    for name in ("api", "beat", "control", "io", "valkey", "postgres"):
        kill_and_await_return(stack, name)

    def coordinator() -> psutil.Process | None:
        return stack.coordinator_process(training)

    first = until(coordinator, what="the job has a coordinator")
    first.send_signal(signal.SIGKILL)
    until(
        lambda: (now := coordinator()) is not None and now != first,
        what="the coordinator returns",
    )

    with suspended(stack.process("postgres")):
        steps_before = len(committed_steps(tmp_path / "audit"))
        back_at = time.monotonic() + DATABASE_AWAY_SECONDS
        until(lambda: time.monotonic() > back_at, what="the database stays away")
        until(
            lambda: len(committed_steps(tmp_path / "audit")) > steps_before + STEPS_WITHOUT,
            what="training goes on meanwhile",
        )
    until(lambda: is_well(stack), what="the service is well again")

    (tmp_path / "stop").touch()
    with stack.client("vision") as client:
        until(
            lambda: job_of(client, training)["state"] == "completed",
            what="the job completes",
        )
        job = job_of(client, training)
        assert (job["failures"], job["attempt"]) == (0, 1)
    assert_every_sample_once(tmp_path / "audit", samples=SAMPLES, job=job)


def kill_and_await_return(stack: RunningStack, name: str) -> None:
    pid = stack.pid(name)
    os.kill(pid, signal.SIGKILL)
    until(lambda: stack.pid(name) != pid, what=f"{name} returns")
    until(lambda: is_well(stack), what=f"the service is well after {name} died")


def is_well(stack: RunningStack) -> bool:
    try:
        answer = httpx.get(f"{stack.url}/api/v1/health", timeout=20)
    except httpx.HTTPError:
        return False
    return bool(answer.status_code == 200 and answer.json()["status"] == "ok")


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    """The process and its children neither answer nor refuse: the worst way to be away."""
    process.suspend()  # first: from now on it has no new ones
    family = [process, *process.children(recursive=True)]
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.suspend()
    try:
        yield
    finally:
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.resume()
