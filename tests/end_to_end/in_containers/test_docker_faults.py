"""Jobs in containers: everything that Docker, the node and the jobs themselves may do to them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from local_stack.checkout import is_free

from tests.end_to_end.in_containers.containers import IMAGE, Containers, DockerRefusedError
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.sample_audit import assert_every_sample_once, committed_steps
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until
from tests.ports import free_port

SAMPLES = 200
DEAF = """\
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""
GREEDY = """\
with open("all-mine", "wb") as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
import signal
signal.pause()
"""
HUNGRY = "x = [bytearray(1 << 20) for _ in range(4096)]"
RAMPANT = """
import os, signal
first = os.getpid()
while True:
    try:
        os.fork()
    except BlockingIOError:
        if os.getpid() == first:
            raise  # alone, so that no other's words are in between
        signal.pause()
"""
pytestmark = pytest.mark.timeout(1800)
Submit = Callable[..., SubmittedJob]


@pytest.fixture
def submit(docker_stack: RunningStack, containers: Containers) -> Iterator[Submit]:
    """Submit a job of this test; it leaves nothing behind."""
    submitted: list[SubmittedJob] = []

    def job(name: str, command: list[str], *, team: str = "vision", **spec: Any) -> SubmittedJob:
        body = {"name": name, "command": command, "max_restarts": 0, **spec}
        submitted.append(SubmittedJob.submit(clients[team], body))
        return submitted[-1]

    with docker_stack.client("vision") as vision, docker_stack.client("language") as language:
        clients = {"vision": vision, "language": language}
        yield job
        for one in submitted:
            one.cancel()
        for one in submitted:
            until(lambda one=one: is_gone(one, containers), what="its containers go")


@pytest.fixture(scope="module")
def doomed(
    docker_stack: RunningStack, containers: Containers, registry: str | None
) -> Iterator[dict[str, SubmittedJob]]:
    """Jobs that fail at the same time, each for a reason of its own; they are over."""
    specs: dict[str, dict[str, Any]] = {
        "greedy": {"command": ["python", "-c", GREEDY], "resources": {"disk_per_job": "32MiB"}},
        "hungry": {"command": ["python", "-c", HUNGRY], "resources": {"memory": "64MiB"}},
        "rampant": {"command": ["python", "-c", RAMPANT]},
    }
    if registry is not None:
        absent = f"{registry}/none:1"
        docker_stack.allow_image(absent)
        specs["faceless"] = {"command": ["python"], "image": absent}
    with docker_stack.client("vision") as vision:
        jobs = {
            name: SubmittedJob.submit(vision, {"name": name, "max_restarts": 0, **spec})
            for name, spec in specs.items()
        }
        for job in jobs.values():
            until(lambda job=job: is_gone(job, containers), what="it fails")
        yield jobs


def is_gone(job: SubmittedJob, containers: Containers) -> bool:
    is_final = job.document()["state"] in {"completed", "failed", "cancelled"}
    return is_final and not containers.of_job(job.job_id)


def training(*arguments: str, is_audited: bool = True, **elastic: int | str) -> dict[str, Any]:
    """A spec that trains until the file `stop` appears among its checkpoints."""
    ending = ("--samples", str(SAMPLES), "--stop-file", "/checkpoints/stop")
    audit = {"CONCERTINA_SAMPLE_AUDIT_DIR": "/checkpoints/audit"}
    return {
        "image": IMAGE,
        "command": ["python", "/scripts/sleepy_regression.py", *ending, *arguments],
        "env": audit if is_audited else {},
        "batch": {"global_batch_size": {"base": 16, "min": 16, "max": 64}},
        "checkpoint": {"interval": "1s"},
        "elastic": {"registration_timeout": REGISTRATION, **elastic},
    }


@pytest.mark.thorough  # as processes, and one job in containers: in each run
def test_jobs_in_containers_grow_give_back_what_they_borrowed_and_survive_a_kill(
    docker_stack: RunningStack, containers: Containers, submit: Submit
) -> None:
    borrower = submit("borrower", **training(min_workers=1, max_workers=4))
    until(lambda: borrower.trains_with(4), what="alone, it grows to the whole pool")

    owner = submit("owner", team="language", **training(min_workers=2, max_workers=2))
    until(lambda: owner.trains_with(2), what="the owner gets its 2 GPUs")
    until(lambda: borrower.trains_with(2), what="the borrower keeps 2")
    assert any(g["reason"] == "reclaim_guarantee" for g in borrower.generations())

    before = borrower.newest_generation
    containers.docker("kill", containers.of_process(before["worker_ids"][-1]))
    until(
        lambda: [g for g in borrower.generations(after=before["number"]) if g["workers"] == 1],
        what="the survivor goes on alone",
    )
    until(lambda: borrower.trains_with(2), what="the worker is replaced")
    for job in (borrower, owner):
        (containers.folder_of(job.job_id) / "stop").touch()
    for job in (borrower, owner):
        until(lambda job=job: job.is_in("completed"), what="it completes")
        assert job.document()["failures"] == 0
        audit = containers.folder_of(job.job_id) / "audit"
        assert_every_sample_once(audit, samples=SAMPLES, job=job.document())
    until(lambda: docker_stack.claimed_gpus() == 0, what="all GPUs are free")


def test_training_goes_on_while_dockerd_is_killed_and_its_log_goes_on(
    docker_stack: RunningStack, containers: Containers, submit: Submit
) -> None:
    job = submit("unshaken", **training("--chatty", min_workers=1, max_workers=1))
    until(job.has_begun, what="the first step")
    worker = job.newest_generation["worker_ids"][0]
    began = containers.inspect(containers.of_process(worker))["State"]["StartedAt"]

    killed = docker_stack.pid("docker")
    os.kill(killed, signal.SIGKILL)
    step = job.document()["step"]
    until(lambda: docker_stack.pid("docker") != killed, what="dockerd is back")
    until(lambda: answers(containers), what="it answers")
    until(lambda: job.document()["step"] > step, what="it trains on")
    assert containers.inspect(containers.of_process(worker))["State"]["StartedAt"] == began

    (containers.folder_of(job.job_id) / "stop").touch()
    until(lambda: job.is_in("completed"), what="it completes")
    assert len(job.generations()) == 1
    numbers = [int(line.split()[1]) for line in job.log_lines() if line.startswith("line ")]
    assert (numbers[0], numbers[-1]) == (0, job.document()["step"] - 1)
    gaps = [(a, b) for a, b in pairwise(numbers) if b != a + 1]
    assert len(gaps) <= 1  # what dockerd had heard and not written when it was killed


@pytest.mark.thorough
def test_after_a_restart_of_docker_that_ends_all_containers_a_job_resumes_from_its_checkpoint(
    docker_stack: RunningStack, containers: Containers, submit: Submit
) -> None:
    job = submit("resumed", **training(min_workers=1, max_workers=1))
    folder = containers.folder_of(job.job_id)
    until(job.has_begun, what="the first step")
    until(lambda: list(folder.glob("step-*")), what="a checkpoint")
    first = job.newest_generation

    with without_live_restore(docker_stack):
        old = docker_stack.pid("docker")
        os.kill(old, signal.SIGTERM)
        until(lambda: docker_stack.pid("docker") != old, what="dockerd is back")
    until(
        lambda: job.generations(after=first["number"]),
        what="another set of workers",
    )
    until(lambda: job.trains_with(1), what="it trains again")
    (folder / "stop").touch()
    until(lambda: job.is_in("completed"), what="it completes")
    assert job.document()["failures"] == 0
    audit = committed_steps(folder / "audit")
    assert audit[0].step <= 1
    assert job.document()["samples"] % SAMPLES == 0


@pytest.mark.thorough
def test_a_job_trains_on_though_the_disk_of_its_checkpoints_is_full(
    containers: Containers, submit: Submit
) -> None:
    size = {"min_workers": 1, "max_workers": 1}
    job = submit("cramped", **training(is_audited=False, **size, grace_period="5m"))
    folder = containers.folder_of(job.job_id)
    until(lambda: list(folder.glob("step-*")), what="a checkpoint")
    job.ask("pause")
    until(lambda: job.is_in("paused"), what="it is paused")
    kept = job.document()["step"]

    with a_small_disk_at(folder):
        job.ask("resume")
        until(lambda: job.trains_with(1), what="it trains again")
        fill(folder)
        step = job.document()["step"]
        until(lambda: job.document()["step"] > step + 20, what="it trains on")
        assert step >= kept
        assert job.document()["failures"] == 0
        job.cancel()
        until(lambda: is_gone(job, containers), what="its containers go")
        assert not list(folder.glob(".step-*"))  # nothing half-written


@pytest.mark.thorough
def test_a_container_that_ignores_sigterm_is_killed_after_its_grace(
    containers: Containers, submit: Submit
) -> None:
    job = submit("deaf", ["python", "-c", DEAF], elastic={"grace_period": "2s"})
    until(lambda: "deaf" in job.log_lines(), what="it runs")
    job.cancel()
    until(lambda: is_gone(job, containers), what="it is gone")
    assert job.is_in("cancelled")


def test_a_job_is_told_when_it_needs_more_memory_than_it_may_have(
    doomed: dict[str, SubmittedJob],
) -> None:
    assert "needed more than its 64MiB of memory" in doomed["hungry"].document()["message"]


def test_a_container_that_writes_too_much_to_its_scratch_is_ended(
    doomed: dict[str, SubmittedJob],
) -> None:
    job = doomed["greedy"].document()
    assert (job["state"], job["reason"]) == ("failed", "out_of_disk")
    assert "more than the 32MiB that it may write" in job["message"]


def test_an_image_that_does_not_exist_fails_the_job_with_the_registrys_words(
    doomed: dict[str, SubmittedJob],
) -> None:
    if "faceless" not in doomed:
        pytest.skip("needs docker-registry")
    job = doomed["faceless"].document()
    assert (job["state"], job["reason"]) == ("failed", "image_unavailable")
    assert "manifest unknown" in job["message"]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | None]:
    """An empty one; None: there is no program for it."""
    if shutil.which("docker-registry") is None:
        yield None
        return
    port = free_port()
    http = {"addr": f"127.0.0.1:{port}"}
    settings = {"version": "0.1", "storage": {"inmemory": {}}, "http": http}
    configuration = tmp_path_factory.mktemp("registry") / "config.yml"
    configuration.write_text(json.dumps(settings))
    with subprocess.Popen(("docker-registry", "serve", str(configuration))) as server:
        try:
            until(lambda: not is_free(port), what="the registry listens")
            yield http["addr"]
        finally:
            server.terminate()


def test_a_fork_bomb_ends_at_its_limit_and_nobody_else_notices(
    docker_stack: RunningStack, doomed: dict[str, SubmittedJob]
) -> None:
    assert "Resource temporarily unavailable" in doomed["rampant"].document()["message"]
    assert httpx.get(f"{docker_stack.url}/api/v1/health", timeout=60).json()["status"] == "ok"


def test_a_container_without_a_record_is_gone_soon(
    docker_stack: RunningStack, containers: Containers
) -> None:
    record = {
        "installation": docker_stack.checkout.identity,
        "node": "node-1",
        "job": "j-nobodys",
        "process": "w-nobodys",
        "role": "worker",
        "attempt": "1",
        "fence": "1",
    }
    labels = [f"--label=concertina.{key}={value}" for key, value in record.items()]
    image = containers.docker("images", "--quiet", "localhost/concertina-worker")
    orphan = containers.docker("create", *labels, image, "sleep", "600")
    with suppress(DockerRefusedError):  # it may be gone before it is started
        containers.docker("start", orphan)
    until(lambda: not containers.of_process("w-nobodys"), what=f"{orphan} is gone")


@contextmanager
def without_live_restore(stack: RunningStack) -> Iterator[None]:
    file = stack.checkout.state_dir / "docker" / "daemon.json"
    settings = json.loads(file.read_text())
    reload_with(stack, file, {**settings, "live-restore": False})
    try:
        yield
    finally:
        reload_with(stack, file, settings)


def reload_with(stack: RunningStack, file: Path, settings: dict[str, Any]) -> None:
    file.write_text(json.dumps(settings))
    wanted = str(settings["live-restore"]).lower()
    containers = Containers(stack=stack)
    # Only a daemon that answers reads it again; one that starts would end.
    until(lambda: answers(containers), what="Docker answers")

    def is_reloaded() -> bool:
        os.kill(stack.pid("docker"), signal.SIGHUP)
        return containers.docker("info", "--format", "{{.LiveRestoreEnabled}}") == wanted

    until(is_reloaded, what="Docker reads its configuration")


def answers(containers: Containers) -> bool:
    try:
        return bool(containers.docker("version"))
    except DockerRefusedError:
        return False


@contextmanager
def a_small_disk_at(folder: Path) -> Iterator[None]:
    """Another file system is mounted there, with what was in the folder."""
    owner = folder.stat()
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    options = f"size=512k,uid={owner.st_uid},gid={owner.st_gid}"
    subprocess.run(("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder), check=True)
    try:
        subprocess.run(("cp", "-a", f"{aside}/.", folder), check=True)
        yield
    finally:
        subprocess.run(("umount", "--lazy", folder), check=True)


def fill(folder: Path) -> None:
    """Leave not a byte."""
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            return
