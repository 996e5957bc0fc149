"""What becomes of a worker that is slower than the others? With the real planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from cluster.models import Node

from autoscaler.control_loop.observe.for_planner.slow_workers import MOST_REPLACEMENTS
from autoscaler.planning.planner import plan
from concertina_worker.protocol import MemberPhase
from jobs.models import Assignment, Event, Job, Worker
from jobs.queries.stragglers import stragglers_by_node
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, claims, fresh, live_workers

MakeWorld = Callable[..., World]


class Trained:
    """A job of two workers, and what happens to it."""

    def __init__(self, world: World, nodes: dict[str, int]) -> None:
        self.world = world
        size = sum(nodes.values())
        self.job: Job = world.job(
            elastic={"min_workers": size, "max_workers": size, "min_interval": "0s"}
        )
        self.coordinator: Coordinator = world.running(self.job, nodes)

    def tick(self) -> None:
        assert replace(self.world.loop(), planner=plan).run_once()

    def is_slow(self, worker: str) -> None:
        speed = {"relative_speed": 0.6, "is_straggler": True, "phase": "training"}
        self.coordinator.sync(workers=[{"worker_id": worker, **speed}])

    def swap(self, worker: str) -> str:
        """The worker is slow, and is replaced; returns who came."""
        before = set(live_workers(self.job))
        self.is_slow(worker)
        self.tick()
        assert (fresh(self.job).state, fresh(self.job).reason) == ("rescaling", "straggler")
        self.coordinator.train()
        self.world.host.exit(worker, 83)
        self.tick()
        (new,) = set(live_workers(self.job)) - before
        return new

    @property
    def wanted(self) -> Sequence[str]:
        newest = Assignment.objects.filter(job=self.job).order_by("revision").last()
        assert newest is not None
        workers: list[str] = newest.worker_ids
        return workers

    def node_of(self, worker: str) -> str:
        return Worker.objects.get(pk=worker).node.name


@pytest.fixture
def trained(make_world: MakeWorld, db: None) -> Trained:
    return Trained(make_world(nodes=(3,)), {"n1": 2})


def test_a_straggler_stays_until_its_substitute_trains(trained: Trained) -> None:
    fast, slow = live_workers(trained.job)
    trained.is_slow(slow)
    trained.tick()
    assert (fresh(trained.job).state, fresh(trained.job).reason) == ("rescaling", "straggler")
    substitute = live_workers(trained.job)[2]
    assert trained.wanted == [fast, substitute]
    assert len(claims()) == 3
    assert slow not in {process for process, _ in trained.world.host.stops}

    trained.coordinator.train()
    trained.world.host.exit(slow, 83)
    trained.tick()
    job = fresh(trained.job)
    assert (job.state, job.losses, job.failures) == ("running", 0, 0)
    assert live_workers(trained.job) == [fast, substitute]
    assert (
        f"Replaces {slow}, 40 % slower" in Event.objects.get(job=job, new_state="rescaling").message
    )


def test_without_a_free_gpu_it_is_only_said(make_world: MakeWorld, db: None) -> None:
    trained = Trained(make_world(nodes=(2,)), {"n1": 2})
    _, slow = live_workers(trained.job)
    trained.is_slow(slow)
    trained.tick()
    assert fresh(trained.job).state == "running"
    assert fresh(trained.job).message.endswith(
        f"{slow} is 40 % slower than the job's median worker; no GPU that may replace it is free."
    )
    assert Event.objects.filter(job=trained.job, kind="straggler_found").count() == 1


def test_it_stays_when_its_substitute_ends_before_it_joins(trained: Trained) -> None:
    before = live_workers(trained.job)
    trained.is_slow(before[1])
    trained.tick()
    trained.world.host.exit(live_workers(trained.job)[2], -9)
    trained.tick()
    assert trained.wanted == before
    trained.coordinator.sync(dict.fromkeys(before, MemberPhase.TRAINING))
    trained.coordinator.train()
    assert fresh(trained.job).state == "running"
    assert Worker.objects.get(pk=before[1]).phase == "training"


def test_it_stays_when_its_substitute_is_not_ready_in_time(trained: Trained) -> None:
    before = live_workers(trained.job)
    trained.is_slow(before[1])
    trained.tick()
    trained.world.clock.advance(70)
    trained.coordinator.sync(dict.fromkeys(before, MemberPhase.TRAINING))
    trained.world.tick()
    assert trained.wanted == before


def test_a_job_that_shrinks_lets_its_straggler_go_first(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 3)
    first, slow, last = live_workers(job)
    speed = {"relative_speed": 0.6, "is_straggler": True, "phase": "training"}
    coordinator.sync(workers=[{"worker_id": slow, **speed}])
    world.wish(job, 2)
    world.tick()
    assert Assignment.objects.get(job=job, revision=2).worker_ids == [first, last]


def test_the_gpu_of_a_straggler_is_the_last_to_be_given_out_again(
    make_world: MakeWorld, db: None
) -> None:
    trained = Trained(make_world(nodes=(4,)), {"n1": 2})
    trained.swap(live_workers(trained.job)[1])  # of GPU 1, by one of GPU 2
    jobs = [trained.world.job(name) for name in ("next", "last")]
    for job in jobs:
        trained.world.running(job, 1)
    gpus = {worker: index for _, index, worker in claims()}
    assert [gpus[worker] for job in jobs for worker in live_workers(job)] == [3, 1]


@pytest.mark.parametrize(
    ("uuids", "expected"),
    [
        (("GPU-aa", "GPU-aa", "GPU-aa", "GPU-aa"), "n2"),
        (("GPU-aa", "GPU-bb", "GPU-bb", "GPU-bb"), "n2"),
        (("GPU-aa", "GPU-bb", "GPU-bb", "GPU-cc"), "n1"),
    ],
)
def test_a_substitute_does_not_share_the_gpu_of_whom_it_replaces(
    make_world: MakeWorld, db: None, uuids: tuple[str, ...], expected: str
) -> None:
    trained = Trained(make_world(nodes=(4, 2)), {"n1": 2})
    Node.objects.filter(name="n1").update(gpu_uuids=list(uuids))
    new = trained.swap(live_workers(trained.job)[1])  # of GPU 1
    assert trained.node_of(new) == expected
    if expected == "n1":
        assert ("n1", 3, new) in claims()


def test_on_a_machine_with_one_gpu_nobody_is_replaced(make_world: MakeWorld, db: None) -> None:
    trained = Trained(make_world(nodes=(4,)), {"n1": 2})
    Node.objects.update(gpu_uuids=["GPU-aa"] * 4)
    trained.is_slow(live_workers(trained.job)[1])
    trained.tick()
    assert fresh(trained.job).state == "running"
    assert "no GPU that may replace it is free" in fresh(trained.job).message


def test_nobody_is_replaced_over_and_over(make_world: MakeWorld, db: None) -> None:
    nodes = {f"n{number}": 1 for number in range(1, 6)}
    world = make_world(nodes=(2, 2, 2, 2, 2))
    trained = Trained(world, nodes)
    workers = live_workers(trained.job)
    for number in range(MOST_REPLACEMENTS):
        trained.swap(workers[number])
    trained.is_slow(workers[MOST_REPLACEMENTS])
    trained.tick()
    assert fresh(trained.job).state == "running"
    assert "replacing others within the last hour has not helped" in fresh(trained.job).message


def test_a_node_of_many_stragglers_gets_no_substitute_and_an_alarm(
    make_world: MakeWorld, db: None, caplog: pytest.LogCaptureFixture
) -> None:
    trained = Trained(make_world(nodes=(3, 2)), {"n1": 2})
    first = trained.swap(live_workers(trained.job)[1])
    assert trained.node_of(first) == "n1"  # it may have been the GPU alone
    second = trained.swap(first)
    assert trained.node_of(second) == "n2"
    assert stragglers_by_node(trained.world.clock(), teams=None) == {"n1": 2}

    (event,) = Event.objects.filter(job=trained.job, kind="node_is_slow")
    assert event.message.startswith("Node n1 slows its workers down")
    assert [r.message for r in caplog.records if r.levelname == "CRITICAL"] == [event.message]
