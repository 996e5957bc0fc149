"""A node that does not answer: nothing is lost at once, nothing new is placed, nothing doubled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.models import Node, NodeChange
from cluster.worker_host import HostUnavailable, ProcessListing
from django.db.models import F

from autoscaler.control_loop.models import Lease
from autoscaler.planning.snapshot.cluster_state import ChangeKind
from autoscaler.reconciling.limits import LIMITS
from concertina_worker.protocol import Env, MemberPhase
from jobs.commands import control
from jobs.models import Assignment, Event, Job, Worker
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, claims, fresh, kinds, live_workers

REFUSED = "connection refused"
LOST = LIMITS.node_lost_after + 1


@pytest.fixture
def world(make_world: Callable[..., World], db: None) -> World:
    return make_world(nodes=(2, 2))


def silence(world: World, *nodes: str, seconds: float = 0.0) -> None:
    """From now on they do not answer; the loop has noticed, and waited for so long."""
    world.host.silent = dict.fromkeys(nodes, REFUSED)
    world.tick()
    if seconds:
        world.clock.advance(seconds)
        world.tick()


def answer(world: World) -> None:
    world.host.silent = {}
    world.tick()


def changes(node: str) -> list[str]:
    rows = NodeChange.objects.filter(node=node).order_by("id")
    return list(rows.values_list("kind", flat=True))


def on(node: str, job: Job) -> list[str]:
    """Live workers there."""
    return [name for name in live_workers(job) if Worker.objects.get(pk=name).node.name == node]


def spread(world: World, first: str = "n1") -> tuple[Job, Coordinator]:
    """A job that trains with one worker on each node; its coordinator is on the first."""
    second = "n2" if first == "n1" else "n1"
    job = world.job()
    return job, world.running(job, {first: 1, second: 1})


def is_open(world: World, name: str) -> bool:
    """As the newest plan saw it."""
    nodes = world.planner.seen[-1].pools[0].nodes
    return next(node.is_schedulable for node in nodes if node.name == name)


def test_nobody_is_released_started_again_or_lost_at_once(world: World) -> None:
    job, _ = spread(world)
    before = (live_workers(job), claims(), len(world.host.launches))
    silence(world, "n1", seconds=LIMITS.node_lost_after - 1)
    assert (live_workers(job), claims(), len(world.host.launches)) == before
    assert (fresh(job).state, fresh(job).losses) == ("running", 0)


def test_a_silent_node_is_closed_and_says_since_when_and_why(world: World) -> None:
    silence(world, "n2")
    node = Node.objects.get(name="n2")
    assert (is_open(world, "n1"), is_open(world, "n2")) == (True, False)
    assert (node.silent_since is not None, node.silent_reason) == (True, REFUSED)
    assert (node.is_schedulable, node.takes_work) == (True, False)
    answer(world)
    assert is_open(world, "n2")


def test_a_silence_that_lasts_is_a_change_of_the_node_and_so_is_its_end(world: World) -> None:
    silence(world, "n2", seconds=LIMITS.silence_told_after)
    world.tick()
    assert changes("n2") == ["joined", "silent"]
    world.clock.advance(60)  # until the newest plans are not explained by the node's joining
    answer(world)
    assert changes("n2") == ["joined", "silent", "answering"]
    (change,) = world.planner.seen[-1].changes
    assert (change.kind, change.name) == (ChangeKind.NODE_JOINED, "n2")


def test_the_slowness_of_a_moment_closes_a_node_and_is_no_change_of_it(world: World) -> None:
    silence(world, "n2", seconds=LIMITS.silence_told_after)
    answer(world)
    told = changes("n2")
    for _ in range(3):
        silence(world, "n2", seconds=LIMITS.silence_told_after - 1)
        assert not is_open(world, "n2")
        answer(world)
        assert is_open(world, "n2")
    assert changes("n2") == told


def test_the_jobs_people_are_told_once(world: World) -> None:
    job, _ = spread(world)
    silence(world, "n2", seconds=LIMITS.silence_told_after)
    world.tick()
    (told,) = Event.objects.filter(job=job, kind="node_silent")
    assert told.message.startswith("Node n2 has not answered since ")
    assert f"({REFUSED}); {on('n2', job)[0]} may train on there" in told.message


def test_nobody_is_told_of_a_node_that_is_only_slow_now_and_then(world: World) -> None:
    job, _ = spread(world)
    for _ in range(3):
        silence(world, "n2", seconds=LIMITS.silence_told_after - 1)
        answer(world)
        world.clock.advance(LIMITS.silence_told_after)
    assert "node_silent" not in kinds(job)


def test_where_no_node_answers_nothing_is_planned_and_each_says_why(world: World) -> None:
    job, _ = spread(world)
    before = (live_workers(job), claims())
    world.host.silent, world.host.is_unavailable = {"n1": REFUSED, "n2": REFUSED}, True
    assert not world.loop().run_once()
    assert set(Node.objects.values_list("silent_reason", flat=True)) == {REFUSED}
    world.clock.advance(LOST)
    world.host.is_unavailable = False
    answer(world)
    assert not Node.objects.exclude(silent_since=None).exists()
    assert (live_workers(job), claims()) == before


class FallsSilent:
    """A host of which one node does not answer any more once its processes have been listed."""

    def __init__(self, host: InMemoryHost, node: str) -> None:
        self._host = host
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def list(self) -> ProcessListing:
        listing = self._host.list()
        self._host.silent = {self._node: REFUSED}
        return listing


class CountsVainOrders(FallsSilent):
    """One that counts how often somebody waited for an answer in vain."""

    def __init__(self, host: InMemoryHost, node: str) -> None:
        super().__init__(host, node)
        self.waits = 0

    def __getattr__(self, name: str) -> Any:
        order = getattr(self._host, name)

        def counted(*given: Any, **options: Any) -> Any:
            try:
                return order(*given, **options)
            except HostUnavailable:
                self.waits += 1
                raise

        return counted if name in {"start", "stop", "forget"} else order


class OvertakenMeanwhile(FallsSilent):
    """A host that does not answer, until another process ticks."""

    def list(self) -> ProcessListing:
        Lease.objects.update(fence=F("fence") + 1)
        raise HostUnavailable(REFUSED, silent_nodes={"n2": REFUSED})


def test_a_process_that_waited_too_long_for_the_nodes_writes_nothing(world: World) -> None:
    world.tick()
    assert not world.loop(host=OvertakenMeanwhile(world.host, "n2")).run_once()
    assert changes("n2") == ["joined"]


def test_another_control_process_counts_on(world: World) -> None:
    job, _ = spread(world)
    silence(world, "n2")
    since = Node.objects.get(name="n2").silent_since
    world.clock.advance(LOST)
    assert world.loop(holder="another").run_once()
    assert Node.objects.get(name="n2").silent_since == since
    assert on("n2", job) == []


def test_a_node_that_answers_in_time_is_as_before(world: World) -> None:
    job, _ = spread(world)
    before = (live_workers(job), claims(), len(world.host.launches), len(world.host.stops))
    silence(world, "n1", seconds=LIMITS.node_lost_after - 1)
    answer(world)
    after = (live_workers(job), claims(), len(world.host.launches), len(world.host.stops))
    assert after == before
    assert fresh(job).losses == 0


def test_after_long_silence_workers_count_as_lost_and_the_others_go_on(world: World) -> None:
    job, coordinator = spread(world)
    lost, stays = on("n2", job), on("n1", job)
    silence(world, "n2", seconds=LOST)
    assert live_workers(job) == stays
    assert {node for node, _, _ in claims()} == {"n1"}
    told = Event.objects.get(job=job, kind="worker_lost")
    assert told.reason == "node_lost"
    assert told.message.startswith(f"{lost[0]} counts as lost: node n2 has not answered since")
    moved = Event.objects.get(job=job, new_state="rescaling")
    assert moved.data == {"workers": {"from": 2, "to": 1}}  # by which others tell that it shrank
    newest = Assignment.objects.filter(job=job).latest("revision")
    assert (newest.worker_ids, newest.reason) == (stays, "node_lost")
    assert coordinator.sync()["workers"] == stays  # hot: it lets the others go in order
    coordinator.train()
    world.tick()
    assert (fresh(job).state, fresh(job).attempt, fresh(job).losses) == ("running", 1, 1)


def test_a_coordinator_that_went_on_without_them_is_told_nothing_new(world: World) -> None:
    job, coordinator = spread(world)
    (stays,) = on("n1", job)
    revision = fresh(job).revision
    silence(world, "n2")
    newest = {
        "number": 2,
        "revision": revision,
        "cause": "worker_lost",
        "workers": [stays],
        "global_batch_size": 32,
        "began_at": world.clock().timestamp(),
        "step": 11,
        "lost_workers": on("n2", job),
    }
    coordinator.sync({stays: MemberPhase.TRAINING}, generation=2, generations=[newest])
    world.clock.advance(LOST)
    world.tick()
    assert (fresh(job).state, fresh(job).revision) == ("running", revision)
    assert live_workers(job) == [stays]


def test_its_gpus_are_closed_until_what_is_left_there_has_ended(world: World) -> None:
    job, coordinator = spread(world)
    (left,) = on("n2", job)
    silence(world, "n2", seconds=LOST)
    coordinator.train()
    world.host.deaf.add(left)  # takes its time to end
    answer(world)
    assert (left, LIMITS.kill_grace) in world.host.stops
    world.wish(job, {"n1": 1, "n2": 1})
    world.tick()
    assert left in world.host.running()
    assert not is_open(world, "n2")
    assert "being stopped" in Node.objects.get(name="n2").silent_reason
    assert on("n2", job) == []  # not even a planner that does not look gets in
    world.clock.advance(LIMITS.kill_grace + 1)
    world.tick(2)
    assert left not in world.host.running()
    assert is_open(world, "n2")
    assert len(on("n2", job)) == 1
    assert changes("n2")[-1] == "answering"


def test_the_coordinator_moves_to_a_node_of_another_worker(world: World) -> None:
    job, _ = spread(world)
    silence(world, "n1", seconds=LIMITS.node_lost_after - 1)
    assert fresh(job).coordinator_node == "n1"
    world.clock.advance(2)
    world.tick()
    assert (fresh(job).coordinator_node, fresh(job).coordinator_term) == ("n2", 1)
    launch = world.host.launch_of(f"{job.id}-1-coordinator")
    assert (launch.node, launch.env[Env.COORDINATOR_TERM]) == ("n2", "1")
    restarted = Event.objects.get(job=job, kind="coordinator_restarted")
    assert restarted.message.startswith("Its coordinator moves to node n2: node n1 has not")
    answer(world)  # the old one is stopped, the new one stays
    world.tick()
    assert f"{job.id}-coordinator" not in world.host.running()
    assert f"{job.id}-1-coordinator" in world.host.running()
    Coordinator(job.id).sync(term=1)
    world.host.exit(f"{job.id}-1-coordinator", -9)
    world.clock.advance(3)  # that was its second restart
    world.tick()
    assert world.host.launch_of(f"{job.id}-2-coordinator").node == "n2"


def test_a_job_that_was_there_alone_starts_again_elsewhere(world: World) -> None:
    job = world.job()
    world.running(job, {"n1": 2})
    starts = fresh(job).starts
    silence(world, "n1", seconds=LOST)
    world.wish(job, {"n2": 1})
    world.tick(2)
    found = fresh(job)
    assert (found.state, found.attempt, found.failures) == ("starting", 1, 0)
    assert (found.starts, found.coordinator_node) == (starts + 1, "n2")
    assert found.coordinator_term == 1  # the old one may still be at work, and is not believed
    assert len(on("n2", job)) == 1
    worker = world.host.launch_of(on("n2", job)[0])
    assert worker.env[Env.START] == str(starts + 1)


def test_a_job_in_restart_mode_starts_again_from_its_checkpoint(world: World) -> None:
    job = world.job(elastic={"mode": "restart"})
    world.wish(job, {"n1": 1, "n2": 1})
    world.tick(2)
    assert fresh(job).state == "running"
    silence(world, "n2", seconds=LOST)
    world.wish(job, {"n1": 2})
    world.tick(3)
    assert "all_workers_lost" in kinds(job)
    assert (fresh(job).state, len(on("n1", job))) == ("running", 2)


def test_a_cancelled_job_ends_when_its_silent_workers_count_as_lost(world: World) -> None:
    job, _ = spread(world)
    silence(world, "n2")
    control.cancel(job_id=job.id, actor="ada")
    world.tick(3)
    assert (fresh(job).state, len(live_workers(job))) == ("stopping", 1)
    world.clock.advance(LOST)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick(2)
    assert fresh(job).state == "cancelled"


def test_a_node_that_falls_silent_in_the_middle_of_a_tick_holds_up_its_own_jobs_only(
    world: World,
) -> None:
    struck, other = world.job("struck"), world.job("other")
    world.running(struck, {"n2": 1})
    world.running(other, {"n1": 1})
    launch = world.host.launch_of(live_workers(struck)[0])
    world.host.start(replace(launch, labels=replace(launch.labels, process_id="stray-1")))
    for job in (struck, other):
        control.cancel(job_id=job.id, actor="ada")
    assert world.loop(host=FallsSilent(world.host, "n2")).run_once()
    assert {*live_workers(struck), "stray-1"} <= world.host.running()
    assert not world.host.running().intersection(live_workers(other))
    world.host.exit(f"{other.id}-coordinator", 0)
    world.tick(2)
    assert fresh(other).state == "cancelled"
    assert (fresh(struck).state, len(live_workers(struck))) == ("stopping", 1)
    assert "control_loop_error" not in kinds(struck)
    answer(world)
    world.tick()
    assert world.host.running() == {f"{struck.id}-coordinator"}


def test_a_node_that_falls_silent_in_the_middle_of_a_tick_is_waited_for_once(
    world: World,
) -> None:
    job = world.job("struck")
    world.running(job, {"n2": 2})
    launch = world.host.launch_of(live_workers(job)[0])
    for name in ("stray-1", "stray-2"):
        world.host.start(replace(launch, labels=replace(launch.labels, process_id=name)))
    control.cancel(job_id=job.id, actor="ada")
    host = CountsVainOrders(world.host, "n2")
    assert world.loop(host=host).run_once()
    assert host.waits == 1
    assert Node.objects.get(name="n2").silent_reason == f"n2: {REFUSED}"


def test_starts_on_a_node_that_falls_silent_wait_for_it_once(world: World) -> None:
    for name in ("first", "second", "third"):
        world.wish(world.job(name), {"n1": 1, "n2": 1} if name == "third" else {"n2": 1})
    host = CountsVainOrders(world.host, "n2")
    assert world.loop(host=host).run_once()
    assert host.waits == 1


def test_a_start_waits_for_a_node_that_has_just_become_silent(world: World) -> None:
    job, other = world.job("on-both"), world.job("other")
    world.wish(job, {"n1": 1, "n2": 1})
    world.wish(other, {"n1": 1})
    assert world.loop(host=FallsSilent(world.host, "n2")).run_once()
    assert len(live_workers(other)) == 1
    assert set(live_workers(other)) <= world.host.running()
    answer(world)
    world.tick(2)
    assert set(live_workers(job)) <= world.host.running()
