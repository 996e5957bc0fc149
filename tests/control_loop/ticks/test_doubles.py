"""What does a second beat change, a second control, and one that wakes up overtaken? Nothing."""

from __future__ import annotations

import fcntl
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.models import Pool, PrefetchedImage
from cluster.worker_host import Launch, WorkerHost
from django.db import connection

from autoscaler.control_loop.lease import orders
from autoscaler.control_loop.models import Lease
from jobs.models import Event, Generation, Job, Leftover
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers

_WRITE: Final = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
_LEASE: Final = "control_loop_lease"
_ORDERS: Final = frozenset({"start", "stop", "forget", "fetch_ahead"})


@dataclass
class Statements:
    """What a tick asks of the database, and what it writes without holding the lease's row."""

    unfenced: list[str] = field(default_factory=list)
    writes: int = 0
    newest: str = ""
    _is_held: list[bool] = field(default_factory=lambda: [False])  # by nested transaction

    def __call__(self, execute: Callable[..., Any], sql: str, *how: Any) -> Any:
        self.newest = sql
        if sql.startswith("SAVEPOINT"):
            self._is_held.append(self._is_held[-1])
        elif sql.startswith("RELEASE"):
            self._is_held.pop()
        elif _LEASE in sql:
            self._is_held[-1] |= "FOR UPDATE" in sql
        elif _WRITE.match(sql):
            self.writes += 1
            if not self._is_held[-1]:
                self.unfenced.append(sql)
        return execute(sql, *how)


@dataclass
class Watched:
    """A host that remembers its orders, and which of them were given without the right to."""

    host: WorkerHost
    statements: Statements
    lock: Path
    given: list[str] = field(default_factory=list)
    unguarded: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name in _ORDERS:
            self.given.append(name)
            if not (is_locked(self.lock) and _LEASE in self.statements.newest):
                self.unguarded.append(name)
        return getattr(self.host, name)


def is_locked(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def eventful(world: World) -> World:
    """A moment in which a tick has to do nearly all that ticks can have to do."""
    grows, ends, starts = (world.job(name) for name in ("grows", "ends", "starts"))
    for job in (grows, ends):
        world.running(job, 1)
    world.host.exit(live_workers(ends)[0], 1)
    world.host.exit(f"{grows.id}-coordinator", 1)
    launch = world.host.launches[-1]
    world.host.start(replace(launch, labels=replace(launch.labels, process_id="stray")))
    world.wish(grows, 2)
    world.wish(starts, 1)
    PrefetchedImage.objects.create(pool=Pool.objects.get())
    Leftover.objects.create(job_id="gone", part=Leftover.Part.FILES, due_at=world.clock())
    return world


def test_all_that_a_tick_writes_or_orders_is_fenced(eventful: World) -> None:
    statements = Statements()
    lock = eventful.state_dir / orders.FILE_NAME
    host = Watched(eventful.host, statements, lock)
    with connection.execute_wrapper(statements):
        for _ in range(3):
            assert eventful.loop(host=host).run_once()  # type: ignore[arg-type] # as good as one
            eventful.clock.advance(60)
    assert statements.writes > 30
    assert set(host.given) == _ORDERS
    assert statements.unfenced == []
    assert host.unguarded == []


@dataclass
class Frozen:
    """Stops at the first statement of this kind, until others have ticked, and goes on."""

    at: str
    meanwhile: Callable[[], None]
    is_awake: bool = False

    def __call__(self, execute: Callable[..., Any], sql: str, *how: Any) -> Any:
        answer = execute(sql, *how)
        if not self.is_awake and sql.startswith("SELECT") and self.at in sql:
            self.is_awake = True
            self.meanwhile()
        return answer


def test_a_control_that_wakes_up_with_a_launch_in_its_hand_starts_nothing(world: World) -> None:
    """Its successor has started that worker, seen it end and given its GPU to another job."""
    job, next_in_line = world.job("first"), world.job("second")
    world.wish(job, 4)

    def meanwhile() -> None:
        world.wish(job, 0)
        assert world.loop(holder="successor").run_once()
        for worker in live_workers(job):
            world.host.exit(worker, 0)
        world.wish(next_in_line, 4)
        for _ in range(2):
            assert world.loop(holder="successor").run_once()
        assert len(live_workers(next_in_line)) == 4

    with connection.execute_wrapper(Frozen('"jobs_gpuclaim"."worker_id" IN ', meanwhile)):
        assert not world.loop(holder="frozen").run_once()
    labels = [launch.labels for launch in world.host.launches]
    assert len({one.process_id for one in labels}) == len(labels)
    assert world.running_processes() == {"second": 4}


class Freezing(InMemoryHost):
    """Somebody else tries to tick while it starts something."""

    def start(self, *launches: Launch) -> None:
        assert self.others is not None
        self.found.append(self.others())
        super().start(*launches)

    others: Callable[[], bool] | None = None
    found: list[bool]


def test_nobody_ticks_while_a_control_is_frozen_in_the_middle_of_an_order(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    host = Freezing(clock=world.clock)
    host.found = []
    host.others = world.loop(holder="successor").run_once
    assert not world.loop(host=host, holder="frozen").run_once()
    assert host.found == [False, False]  # its coordinator, then its worker
    world.tick()
    assert world.running_processes() == {"digits": 1}


def life(world: World, tick: Callable[[], None]) -> dict[str, Any]:
    """What is left of a job that starts, grows, fails, starts again and ends."""
    job = world.job()
    coordinator, launched = Coordinator(job.id), len(world.host.launches)
    for workers in (1, 2):
        world.wish(job, workers)
        tick()
        coordinator.train()
        tick()
    for exit_code in (1, 0):
        for worker in live_workers(job):
            world.host.exit(worker, exit_code)
        for _ in range(3):
            world.clock.advance(35)
            tick()
        if exit_code:
            coordinator.train()
            tick()
    return remains(job, world.host.launches[launched:])


def remains(job: Job, launches: list[Launch]) -> dict[str, Any]:
    ended = fresh(job)
    events = Event.objects.filter(job=job).order_by("id").values_list("kind", "message")
    made = Generation.objects.filter(job=job).order_by("number")
    return {
        "job": (ended.state, ended.attempt, ended.starts, ended.failures, ended.rescales),
        "gpu_seconds": round(ended.gpu_seconds, 1),
        "events": [(kind, message.replace(job.id, "JOB")) for kind, message in events],
        "generations": list(made.values_list("number", "revision", "workers")),
        "launches": [one.labels.process_id.replace(job.id, "JOB") for one in launches],
    }


def test_a_life_under_two_beats_and_two_controls_is_that_under_one(world: World) -> None:
    def one() -> None:
        world.tick(2)

    def two() -> None:
        for holder in ("a", "b", "b", "a", "b"):
            assert world.loop(holder=holder).run_once()

    alone = life(world, one)
    assert alone["job"] == ("completed", 2, 2, 1, 1)
    assert life(world, two) == alone


@pytest.mark.django_db(transaction=True)
def test_of_controls_that_tick_at_the_same_time_each_tick_is_one_alone(world: World) -> None:
    jobs = [world.job(f"job{n}") for n in range(4)]
    for job in jobs:
        world.wish(job, 1)
    meeting = threading.Barrier(3)

    def tick(holder: str) -> int:
        try:
            meeting.wait(60)
            return sum(world.loop(holder=holder).run_once() for _ in range(5))
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as threads:
        made = list(threads.map(tick, "abc"))
    assert sum(made) == Lease.objects.get().turn
    started = [launch.labels.process_id for launch in world.host.launches]
    assert len(started) == len(set(started)) == 8
    assert world.running_processes() == {job.name: 1 for job in jobs}
