"""A few rules once more, with real containers instead of the twin."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import docker
import pytest
from cluster.docker_host.host import DockerHost
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.logs.log_store import JobLog
from tenancy.models import ImageRule

from autoscaler.control_loop.tick import ControlLoop
from jobs.commands.control import cancel
from jobs.models import Event, Job
from tests import polling
from tests.control_loop.clocks import Clock, RunningClock
from tests.control_loop.real_hosts.docker_world import PATIENT, docker_host
from tests.control_loop.world import World, claims, fresh, live_workers
from tests.docker_daemon import TINY_IMAGE, DockerDaemon, remove_everything
from tests.ports import free_port

FOR_EVER: Final = "trap 'exit 0' TERM; echo up $RANK of $WORLD_SIZE; while :; do sleep 0.1; done"
NOTE_SIZE: Final = "echo $WORLD_SIZE >> /checkpoints/sizes; echo $RANK of $WORLD_SIZE"
UNTIL_TOLD: Final = "while [ ! -e /checkpoints/done ]; do sleep 0.1; done"


@dataclass
class Ship:
    """A world whose processes run in containers; its jobs run in restart mode: no service."""

    world: World
    loop: ControlLoop
    daemon: docker.APIClient
    installation: str

    def job(self, script: str, *, workers: int = 1, **spec: Any) -> Job:
        elastic = {"mode": "restart", "max_workers": 4, "grace_period": "2s"}
        job = self.world.job(command=["sh", "-c", script], elastic=elastic, **spec)
        self.world.wish(job, workers)
        return job

    def tick_until(self, is_true: Callable[[], object], *, seconds: float = 120.0) -> None:
        began = time.monotonic()
        while not is_true():
            assert time.monotonic() < began + seconds, self.how_it_stands()
            self.loop.run_once()  # one that fails is made up for by the next
            polling.pause_before_a_tick(began)

    def how_it_stands(self) -> str:
        """For whoever has to find out why something did not come true in time."""
        jobs = [f"{job}: {job.state}, {job.message}" for job in Job.objects.all()]
        processes = [
            f"{p.labels.process_id}: {p.phase}, {p.note}" for p in self.loop.host.list().processes
        ]
        return "\n".join(["did not come true in time", *jobs, *processes])

    def texts(self, job: Job) -> list[str]:
        log = JobLog(job_id=job.id, state_dir=self.world.state_dir)
        return [line.text for line in log.page(tail=1000).lines]

    def own(self) -> dict[str, list[str]]:
        return {"label": [f"concertina.installation={self.installation}"]}

    def containers(self) -> set[str]:
        return {one["Id"] for one in self.daemon.containers(all=True, filters=self.own())}

    def networks(self) -> set[str]:
        return {one["Name"] for one in self.daemon.networks(filters=self.own())}


@pytest.fixture
def clock() -> Clock:
    return RunningClock()


@pytest.fixture
def ship(world: World, docker_daemon: DockerDaemon, unhurried_hosts: None) -> Iterator[Ship]:
    installation = f"loop{os.getpid()}"
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://nowhere.invalid:1", image=TINY_IMAGE
    )
    loop = replace(world.loop(host=_host(world, docker_daemon, installation)), limits=PATIENT)
    client = docker_daemon.client()
    try:
        yield Ship(world=world, loop=loop, daemon=client, installation=installation)
    finally:
        loop.host.close()
        remove_everything(client, label=f"concertina.installation={installation}")


def _host(world: World, daemon: DockerDaemon, installation: str) -> DockerHost:
    daemons = {"n1": daemon.url}
    return docker_host(world, daemons, installation=installation, image=TINY_IMAGE)


def test_a_job_runs_to_its_end_and_only_its_logs_stay(ship: Ship) -> None:
    job = ship.job("echo $RANK of $WORLD_SIZE in $PWD", workers=2)
    ship.tick_until(lambda: fresh(job).state == "completed")
    said = ["0 of 2 in /scratch", "1 of 2 in /scratch"]
    ship.tick_until(lambda: sorted(ship.texts(job)) == said)  # the log may come a moment later
    assert claims() == set()
    ship.tick_until(lambda: not ship.containers() | ship.networks())
    assert not list((ship.world.state_dir / "jobs" / job.id).glob("scratch/*"))


def test_workers_find_the_first_of_them_by_its_name(ship: Ship) -> None:
    first = "nc -l -p $MASTER_PORT"
    # From a file: nc leaves without a word if the other end says nothing before it has one.
    call = "nc $MASTER_ADDR $MASTER_PORT < word 2> /dev/null"
    others = f"echo $RANK is here > word; until {call}; do sleep 0.02; done"
    job = ship.job(f"if [ $RANK = 0 ]; then {first}; else {others}; fi", workers=2)
    ship.tick_until(lambda: fresh(job).state == "completed")
    ship.tick_until(lambda: ship.texts(job) == ["1 is here"])


def test_a_job_grows_and_shrinks_and_its_checkpoints_go_with_it(ship: Ship) -> None:
    job = ship.job(f"{NOTE_SIZE}; {UNTIL_TOLD}")
    ship.tick_until(lambda: fresh(job).state == "running" and "0 of 1" in ship.texts(job))
    ship.world.wish(job, 2)
    ship.tick_until(lambda: fresh(job).generation == 2 and "1 of 2" in ship.texts(job))
    ship.world.wish(job, 1)
    ship.tick_until(lambda: fresh(job).generation == 3 and ship.texts(job).count("0 of 1") == 2)
    checkpoints = ship.world.state_dir / "jobs" / job.id / "checkpoints"
    (checkpoints / "done").touch()
    ship.tick_until(lambda: fresh(job).state == "completed")
    assert (checkpoints / "sizes").read_text().split() == ["1", "2", "2", "1"]
    assert (fresh(job).rescales, fresh(job).losses, fresh(job).failures) == (2, 0, 0)


def test_a_new_control_process_adopts_what_runs(ship: Ship, docker_daemon: DockerDaemon) -> None:
    job = ship.job(FOR_EVER, workers=2)
    ship.tick_until(lambda: len(ship.texts(job)) == 2)
    before, workers = ship.containers(), live_workers(job)
    host = _host(ship.world, docker_daemon, ship.installation)
    ship.loop = replace(ship.loop, holder="another", host=host)
    ship.tick_until(lambda: fresh(job).state == "running")
    assert (ship.containers(), live_workers(job)) == (before, workers)
    cancel(job_id=job.id, actor="ada")
    ship.tick_until(lambda: fresh(job).state == "cancelled")
    ship.tick_until(lambda: not ship.containers())


def test_a_killed_container_brings_the_job_back_with_new_ones(ship: Ship) -> None:
    job = ship.job(FOR_EVER, workers=2)
    ship.tick_until(lambda: len(ship.texts(job)) == 2)
    before = ship.containers()
    ship.daemon.kill(min(before))
    ship.tick_until(lambda: fresh(job).losses and fresh(job).state == "running")
    assert not before & ship.containers()
    assert fresh(job).failures == 0


def test_the_kernels_kill_for_memory_is_told_apart_from_a_crash(ship: Ship) -> None:
    job = ship.job("exec head -c 100m /dev/zero > /tmp/much", resources={"memory": "24MiB"})
    lost = Event.objects.filter(job=job, kind="worker_lost", reason="out_of_memory")
    ship.tick_until(lost.exists)  # of its first worker, but when Docker has not heard of it
    worker = lost[0].data["worker"]
    assert lost[0].message == (
        f"{worker} was killed because it needed more than its 24MiB of memory."
        " Raise `resources.memory` or lower the batch."
    )
    assert fresh(job).failures == 0


def test_an_image_that_its_registry_does_not_have_fails_the_job_in_its_words(
    ship: Ship, registry: str
) -> None:
    ImageRule.objects.create(pattern=f"{registry}/vision/*")
    job = ship.job("true", image=f"{registry}/vision/none:7")
    ship.tick_until(lambda: fresh(job).state == "failed")
    assert fresh(job).reason == "image_unavailable"
    assert fresh(job).message.startswith(
        f"Its image cannot be fetched: image {registry}/vision/none:7: "
    )
    assert "manifest unknown" in fresh(job).message
    assert (fresh(job).failures, fresh(job).losses, fresh(job).attempt) == (0, 0, 1)
    assert claims() == set()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """An empty one, by the address that images name it by."""
    program = shutil.which("docker-registry") or shutil.which("registry")
    if program is None:
        pytest.skip("needs the program docker-registry")
    address = f"127.0.0.1:{free_port()}"
    configuration = tmp_path / "registry.yml"
    configuration.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path}/registry}}}}\n"
        f"http: {{addr: '{address}'}}\nlog: {{level: error}}\n"
    )
    host, _, port = address.partition(":")
    with subprocess.Popen((program, "serve", str(configuration))) as server:
        give_up_at = time.monotonic() + 30
        while not _listens(host, int(port)):
            assert time.monotonic() < give_up_at
            time.sleep(0.02)
        yield address
        server.terminate()


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
