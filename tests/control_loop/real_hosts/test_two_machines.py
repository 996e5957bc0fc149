"""A job over two machines, each with a Docker daemon of its own: one falls silent, or is lost.

The whole way, but for the planner, which does as told: containers, the network across machines,
the coordinator's reports, and real training, whose every sample is counted.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.models import Node
from cluster.nodes.maintenance import Maintenance, maintain
from pytest_django.live_server_helper import LiveServer

from autoscaler.control_loop.tick import ControlLoop
from autoscaler.planning.planner import plan
from concertina_worker.protocol import Env
from jobs.models import Event, Generation, Job, Worker
from tests import polling
from tests.control_loop.clocks import Clock, RunningClock
from tests.control_loop.real_hosts.docker_world import PATIENT, docker_host
from tests.control_loop.world import World, claims, fresh, kinds, live_workers
from tests.docker_daemon import DockerDaemon
from tests.docker_nodes import Machines, two_machines
from tests.end_to_end.sample_audit import assert_every_sample_once
from tools.images.catalogue import worker_image

SCRIPT = Path(__file__).parents[2] / "end_to_end" / "scripts" / "sleepy_regression.py"
SAMPLES = 160
pytestmark = pytest.mark.timeout(1800)  # seconds; it takes 60 on a machine that is free


@pytest.fixture(scope="module")
def machines(docker_daemon: DockerDaemon) -> Iterator[Machines]:
    if docker_daemon.folder is None:
        pytest.skip("needs a private daemon, whose image two more can share")
    worker_image(docker_daemon.url)
    with two_machines(docker_daemon.folder) as machines:
        yield machines


@dataclass
class Field:
    """A world of two nodes with a daemon each."""

    world: World
    machines: Machines
    loop: ControlLoop

    def job(self, nodes: dict[str, int]) -> Job:
        """Trains on these nodes; the first of them has its coordinator."""
        command = ["python", "/checkpoints/train.py", "--stop-file", "/checkpoints/stop"]
        sizes = ["--samples", str(SAMPLES), "--seconds-per-sample", "0.004"]
        job = self.world.job(
            command=[*command, *sizes],
            elastic={"max_workers": 4, "grace_period": "60s", "registration_timeout": "10m"},
            env={Env.SAMPLE_AUDIT_DIR: "/checkpoints/audit"},
        )
        folder = self.folder(job)
        folder.mkdir(parents=True)
        shutil.copy(SCRIPT, folder / "train.py")
        self.world.wish(job, nodes, batch=16)
        self.tick_until(lambda: fresh(job).state == "starting")
        self.world.wish(job, dict(sorted(nodes.items())), batch=16)  # as it is told afterwards
        self.tick_until(lambda: fresh(job).state == "running" and fresh(job).samples)
        assert Generation.objects.get(job=job).workers == sum(nodes.values())
        return job

    def folder(self, job: Job) -> Path:
        return self.world.state_dir / "jobs" / job.id / "checkpoints"

    def tick_until(self, is_true: Callable[[], object], *, seconds: float = 200.0) -> None:
        began = time.monotonic()
        while not is_true():
            assert time.monotonic() < began + seconds, self.story()
            self.loop.run_once()  # one that fails is made up for by the next
            polling.pause_before_a_tick(began)

    def story(self) -> str:
        """What happened so far, for whoever has to find out why not more did."""
        events = Event.objects.order_by("id").values_list("kind", "message")
        logs = sorted(self.world.state_dir.glob("logs/*/*.log"))
        return "\n".join(
            [*map(str, events), *(f"--- {log.stem}\n{log.read_text()[-2000:]}" for log in logs)]
        )

    def trains_on(self, job: Job) -> None:
        before = fresh(job).samples
        self.tick_until(lambda: fresh(job).samples > before + 2 * 16)

    def finish(self, job: Job) -> None:
        """After the epoch it is in; every sample of every epoch was used once."""
        (self.folder(job) / "stop").touch()
        self.tick_until(lambda: fresh(job).state == "completed")
        told: dict[str, Any] = {"samples": fresh(job).samples}
        assert_every_sample_once(self.folder(job) / "audit", samples=SAMPLES, job=told)


@pytest.fixture
def clock() -> Clock:
    return RunningClock()


@pytest.fixture
def field(
    transactional_db: None, make_world: Callable[..., World], machines: Machines, settings: Any
) -> Iterator[Field]:
    settings.ALLOWED_HOSTS = ["*"]
    world = make_world(nodes=(2, 2))
    daemons = {one.name: one.daemon.url for one in machines.both}
    host = docker_host(
        world, daemons, installation="field", image="localhost/concertina-worker:0.1.0"
    )
    server = LiveServer(machines.host)
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url=server.url, image=host.worker_image
    )
    loop = replace(world.loop(host=host), limits=PATIENT)
    try:
        yield Field(world=world, machines=machines, loop=loop)
    finally:
        host.close()
        machines.put_right()
        server.stop()


def on(node: str, job: Job) -> list[str]:
    """Live workers there."""
    return [name for name in live_workers(job) if Worker.objects.get(pk=name).node.name == node]


def is_silent(node: str) -> bool:
    return Node.objects.get(name=node).silent_since is not None


@pytest.mark.thorough
def test_a_job_goes_on_while_a_daemon_is_away_and_leaves_its_machine_when_drained(
    field: Field,
) -> None:
    job = field.job({"n1": 1, "n2": 1})
    (away,) = on("n2", job)
    field.machines.worker.daemon.kill()
    field.tick_until(lambda: is_silent("n2"))
    field.trains_on(job)
    assert live_workers(job)[1:] == [away]  # its container may well live: nothing is given up
    field.tick_until(lambda: "node_silent" in kinds(job))
    field.machines.worker.daemon.run()
    field.tick_until(lambda: not is_silent("n2"))
    field.tick_until(lambda: on("n2", job) not in ([away], []))  # as it comes back, it stops all
    field.tick_until(lambda: fresh(job).state == "running")
    field.trains_on(job)
    maintain("n2", Maintenance.DRAIN)
    field.loop = replace(field.loop, planner=plan)  # the real one: it moves the job away
    field.tick_until(lambda: on("n2", job) == [] and fresh(job).state == "running")
    field.finish(job)
    lives = (fresh(job).attempt, fresh(job).failures, fresh(job).starts)
    assert lives == (1, 0, 1), field.story()
    assert claims() == set()


def test_a_job_goes_on_without_a_machine_that_had_its_coordinator_and_is_lost(field: Field) -> None:
    job = field.job({"n2": 1, "n1": 1})
    (stays,) = on("n1", job)
    assert fresh(job).coordinator_node == "n2"
    field.machines.worker.burn_down()
    field.tick_until(lambda: is_silent("n2"))
    field.world.wish(job, {"n1": 1}, batch=16)
    field.loop = replace(field.loop, limits=replace(PATIENT, node_lost_after=0.0))
    field.tick_until(lambda: fresh(job).coordinator_node == "n1")
    assert live_workers(job) == [stays]
    assert {node for node, _, _ in claims()} == {"n1"}
    field.tick_until(lambda: fresh(job).state == "running")
    field.trains_on(job)
    assert is_silent("n2")
    field.finish(job)
    lives = (fresh(job).attempt, fresh(job).failures, fresh(job).starts)
    assert lives == (1, 0, 1), field.story()
