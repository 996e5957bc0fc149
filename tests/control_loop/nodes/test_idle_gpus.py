"""Does a job whose GPUs do nothing shrink, pause or stay, as its spec says, when really planned?

The planner, the rules and the database are the real ones; only the node's gauge is ours.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from cluster.models import Node, Pool
from cluster.usage.readings import GpuSample

from autoscaler.control_loop.models import Tick
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from concertina_worker.protocol import ExitCode
from jobs.models import Assignment, Event, Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.nodes.test_usage import UUIDS, Gauge, gauge, looks_until
from tests.control_loop.world import World, fresh, kinds, live_workers

__all__ = ["gauge"]  # a fixture


@pytest.fixture
def training(world: World, gauge: Gauge) -> Gauge:
    """All four GPUs of node n1 are busy until they are told otherwise."""
    Pool.objects.update(gpu_type="nvidia-h200")
    Node.objects.filter(name="n1").update(gpu_uuids=UUIDS)
    use_gpus(gauge, 0.9)
    return gauge


def use_gpus(gauge: Gauge, utilisation: float) -> None:
    gauge.gpus = dict.fromkeys(UUIDS, GpuSample(utilisation=utilisation, memory_bytes=1 << 30))


def plan_really(world: World) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    assert loop.run_once()
    assert not Tick.objects.exclude(alarm="").exists()


def begun(world: World, then: str) -> tuple[Job, Coordinator]:
    """It trains with four workers, each with a GPU."""
    job = world.job(then, idle={"after": "60s", "then": then})
    return job, world.running(job, 4)


def become_idle(world: World, gauge: Gauge, job: Job) -> None:
    """For longer than its spec allows; the obedient planner leaves it is until then."""
    use_gpus(gauge, 0.0)
    gauge.all_idle()
    looks_until(world, lambda: fresh(job).idle_since)
    assert fresh(job).idle_since is not None
    world.clock.advance(61)


def test_an_idle_job_shrinks_to_its_fewest_workers_says_why_and_grows_again(
    world: World, training: Gauge
) -> None:
    job, coordinator = begun(world, "shrink")
    become_idle(world, training, job)
    plan_really(world)
    wanted = Assignment.objects.filter(job=job).latest("revision")
    assert (len(wanted.worker_ids), wanted.reason) == (1, "idle")
    assert wanted.message.startswith(
        "Shrunk from 4 to 1 worker: its workers do nothing, and its spec says to shrink then;"
    )
    since = fresh(job).idle_since
    told = Event.objects.get(job=job, kind="idle")
    assert told.message == (
        f"All its workers have been idle since {since:%H:%M} UTC. It keeps its fewest workers until"
        " it does something again (`idle.after: 1m`, `idle.then: shrink`)."
    )
    coordinator.train()
    for worker in {*live_workers(job)} - {*wanted.worker_ids}:
        world.host.exit(worker, ExitCode.RELEASED)
    plan_really(world)
    assert (fresh(job).state, live_workers(job)) == ("running", wanted.worker_ids)
    plan_really(world)
    assert Assignment.objects.filter(job=job).latest("revision") == wanted, "and stays so"

    use_gpus(training, 0.9)
    training.cores = {}
    looks_until(world, lambda: fresh(job).idle_since is None)
    world.clock.advance(600)
    coordinator.train(samples=10_000)
    plan_really(world)
    assert len(Assignment.objects.filter(job=job).latest("revision").worker_ids) > 1


def test_busy_gpus_keep_a_job_whose_processors_only_wait(world: World, training: Gauge) -> None:
    job, _ = begun(world, "shrink")
    training.all_idle()
    for _ in range(12):
        world.clock.advance(10)
        world.tick()
    assert fresh(job).idle_since is None
    plan_really(world)
    assert len(Assignment.objects.filter(job=job).latest("revision").worker_ids) == 4


def test_an_idle_job_that_only_wants_to_be_told_keeps_its_workers(
    world: World, training: Gauge
) -> None:
    job, _ = begun(world, "warn")
    become_idle(world, training, job)
    for _ in range(3):
        plan_really(world)
    assert len(Assignment.objects.filter(job=job).latest("revision").worker_ids) == 4
    assert kinds(job).count("idle") == 1
    assert "It is left alone, as its spec says" in Event.objects.get(job=job, kind="idle").message


def test_an_idle_job_pauses_and_its_gpus_go_to_who_waits(world: World, training: Gauge) -> None:
    job, _ = begun(world, "pause")
    waiting = world.job("waiting")
    become_idle(world, training, job)
    plan_really(world)
    assert fresh(job).state in {"stopping", "paused"}
    for process in list(world.host.running()):
        if process.startswith(job.id):
            world.host.exit(process, 0 if process.endswith("coordinator") else ExitCode.RELEASED)
    for _ in range(3):
        world.clock.advance(1)
        plan_really(world)
    assert (fresh(job).state, fresh(job).reason) == ("paused", "idle")
    assert "`idle.then: pause`). `concertina resume` starts it again." in fresh(job).message
    assert fresh(waiting).state == "starting"
    plan_really(world)
    assert fresh(job).state == "paused", "it does not come back by itself"
