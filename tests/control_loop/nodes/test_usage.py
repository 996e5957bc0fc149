"""What workers take of their nodes is read and kept, and idle jobs are known; no tick waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.models import Node, Pool
from cluster.usage.readings import GpuSample, NodeReading, ProcessUse
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import Event, GpuClaim, UsagePoint, Worker
from tests.control_loop.world import World, fresh

GIB = 1 << 30
UUIDS = ["GPU-aa", "GPU-bb", "GPU-cc", "GPU-dd"]


@dataclass(slots=True, kw_only=True)
class Gauge:
    """Every process that runs has used so many cores since the last look, unless it is unread."""

    host: InMemoryHost
    cores: dict[str, float] = field(default_factory=dict)  # by worker; others: one
    gpus: dict[str, GpuSample] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    looks: int = 0
    _used: dict[str, float] = field(default_factory=dict)

    def read(self, node: str) -> NodeReading:
        self.looks += 1
        processes = {}
        for worker in self.host.running():
            cores = self.cores.get(worker, 1.0)
            self._used[worker] = self._used.get(worker, 5.0) + 10 * cores
            if worker not in self.unread and self.host.launch_of(worker).node == node:
                use = ProcessUse(cpu_seconds=self._used[worker], memory_bytes=GIB)
                processes[worker] = use
        return NodeReading(at_seconds=10.0 * self.looks, processes=processes, gpus=self.gpus)

    def all_idle(self) -> None:
        self.cores = dict.fromkeys(self.host.running(), 0.01)


@pytest.fixture
def gauge(world: World) -> Gauge:
    made = Gauge(host=world.host)
    world.host.gauge = made
    return made


def looks_until(world: World, look: Callable[[], object]) -> None:
    """Let ten seconds pass for each tick until it is so."""
    give_up_at = time.monotonic() + 30
    while not look():
        assert time.monotonic() < give_up_at, "the condition did not come true in time"
        world.clock.advance(10)
        world.tick()


def two_looks(world: World) -> None:
    before = UsagePoint.objects.values("at").distinct().count()
    looks_until(world, lambda: UsagePoint.objects.values("at").distinct().count() > before + 1)


def test_each_workers_processors_memory_and_gpus_are_kept(world: World, gauge: Gauge) -> None:
    Pool.objects.update(gpu_type="nvidia-h200")
    Node.objects.filter(name="n1").update(gpu_uuids=UUIDS)
    job = world.job(resources={"gpus_per_worker": 2})
    world.running(job, 2)
    first, second = Worker.objects.order_by("id")
    gauge.cores = {first.id: 3.0}
    taken = GpuClaim.objects.filter(worker=first).order_by("gpu_index")
    names = [UUIDS[index] for index in taken.values_list("gpu_index", flat=True)]
    gauge.gpus = {
        names[0]: GpuSample(utilisation=0.9, memory_bytes=10 * GIB, power_watts=300.0),
        names[1]: GpuSample(utilisation=0.5, memory_bytes=20 * GIB),  # tells no power
    }
    two_looks(world)
    point = UsagePoint.objects.filter(worker_id=first.id).order_by("-at")[0]
    assert (point.cpu_cores, point.memory_bytes) == (pytest.approx(3.0), GIB)
    assert point.gpu_utilisation == pytest.approx(0.7)
    assert (point.gpu_memory_bytes, point.gpu_power_watts) == (30 * GIB, 300.0)
    other = UsagePoint.objects.filter(worker_id=second.id).order_by("-at")[0]
    assert (other.cpu_cores, other.gpu_utilisation) == (pytest.approx(1.0), None)


def test_a_job_is_idle_when_all_its_workers_are_and_people_hear_of_it(
    world: World, gauge: Gauge
) -> None:
    job = world.job()
    world.running(job, 2)
    gauge.all_idle()
    gauge.cores.pop(Worker.objects.order_by("id")[0].id)
    two_looks(world)
    assert fresh(job).idle_since is None  # one of them works
    gauge.all_idle()
    looks_until(world, lambda: fresh(job).idle_since)
    since = fresh(job).idle_since
    world.clock.advance(580)
    looks_until(world, lambda: Event.objects.filter(job=job, kind="idle").exists())
    world.tick(2)
    assert Event.objects.get(job=job, kind="idle").data == {"since": since.isoformat()}
    assert fresh(job).idle_since == since
    gauge.cores = {}
    looks_until(world, lambda: Event.objects.filter(job=job, kind="busy_again").exists())
    assert fresh(job).idle_since is None


def test_whoever_is_not_read_lets_nobody_count_as_idle(world: World, gauge: Gauge) -> None:
    job = world.job()
    world.running(job, 2)
    gauge.all_idle()
    gauge.unread = {Worker.objects.order_by("id")[0].id}
    two_looks(world)
    assert fresh(job).idle_since is None


def test_an_idle_job_keeps_what_its_spec_says_and_no_more(world: World, gauge: Gauge) -> None:
    shrinks = world.job("shrinks", idle={"after": "60s", "then": "shrink"})
    pauses = world.job("pauses", idle={"after": "60s", "then": "pause"})
    world.running(shrinks, 2)
    world.running(pauses, 1)
    gauge.all_idle()
    looks_until(world, lambda: fresh(pauses).state == "stopping")
    assert fresh(pauses).ends_as == "paused"
    assert "`concertina resume` starts it again" in fresh(pauses).message
    looks_until(world, lambda: world.planner.job(shrinks).max_workers == 1)
    gauge.cores = {}
    looks_until(world, lambda: world.planner.job(shrinks).max_workers == 4)
    looks_until(world, lambda: fresh(pauses).state == "paused")
    assert fresh(pauses).idle_since is None


def test_a_look_at_many_jobs_takes_no_more_statements(world: World, gauge: Gauge) -> None:
    world.running(world.job("first"), 1)
    of_one = statements_of_a_look(world, gauge)
    for name in ("second", "third", "fourth"):
        world.running(world.job(name), 1)
    assert statements_of_a_look(world, gauge) == of_one
    assert UsagePoint.objects.values("job").distinct().count() == 4


def statements_of_a_look(world: World, gauge: Gauge) -> int:
    """Ask, wait for the answers, and count what it takes to write them down."""
    gauge.all_idle()
    looks = gauge.looks
    looks_until(world, lambda: gauge.looks > looks)
    while True:
        points = UsagePoint.objects.count()
        with CaptureQueriesContext(connection) as statements:
            world.tick()
        if UsagePoint.objects.count() > points:
            about_usage = ("jobs_usagepoint", "idle_since = ", "jobs_gpuclaim")
            taken = [q["sql"] for q in statements if any(one in q["sql"] for one in about_usage)]
            return len(taken)
        world.clock.advance(10)
