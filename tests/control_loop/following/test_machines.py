"""Pools ask their cluster for machines and give them back, in ticks, on the real database."""

from __future__ import annotations

import pytest
from cluster.models import MachineEvent, MachineRequest, Node, Pool
from cluster.nodes.maintenance import Maintenance, maintain
from cluster.ray_host.nodes import NodeRows
from cluster.worker_host import HostUnavailable
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.planning import planner
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.models import Job
from tests.control_loop.following.keeper import LABELS, Keeper
from tests.control_loop.world import World

PATIENCE = 60.0


@pytest.fixture
def asking(world: World, keeper: Keeper) -> Keeper:
    """The pool of node n1 with four GPUs asks for a second machine of four, and plans for real."""
    Pool.objects.update(nodes_max=2, gpus_per_node=4, patience_seconds=60, idle_minutes=10)
    world.planner = planner.plan  # type: ignore[assignment]
    return keeper


def told() -> list[tuple[str, str]]:
    return list(MachineEvent.objects.order_by("id").values_list("kind", "node"))


def asks_for_one(world: World) -> MachineRequest:
    """A job waits that needs more than there is, until a machine is asked for."""
    world.job(elastic={"min_workers": 6, "max_workers": 6})
    world.tick()
    world.clock.advance(PATIENCE)
    world.tick()
    return MachineRequest.objects.get(ended_at=None)


def name_of(asking: Keeper, request: MachineRequest) -> str:
    """What the cluster is asked for under its number."""
    (name,) = asking.asked
    assert name.startswith(f"default/{request.pk}-")
    return name


def test_a_job_that_waits_brings_a_machine(world: World, asking: Keeper) -> None:
    request = asks_for_one(world)
    assert told() == [("asked", "")]
    assert request.reason == "a waiting job would start on one more node"
    numbers = {"nodes": 1, "nodes_max": 2, "startable_jobs": 1, "needed_for_seconds": PATIENCE}
    assert MachineEvent.objects.get().numbers == pytest.approx(numbers, abs=1.0)
    world.tick(2)
    assert name_of(asking, request)
    asking.has("n1", "n2")  # the autoscaler has started it
    asking.brings = "n2"
    world.tick(3)
    assert told() == [("asked", ""), ("brought", "n2"), ("arrived", "n2")]
    assert asking.asked == []  # so that the node's own lease has its GPUs
    assert Node.objects.get(name="n2").takes_work
    assert MachineRequest.objects.filter(ended_at=None).count() == 0


def test_whoever_dies_between_two_steps_asks_for_nothing_twice(
    world: World, asking: Keeper
) -> None:
    asks_for_one(world)

    def die(*_: object) -> dict[str, str]:
        raise KeyboardInterrupt

    asking.ask_for = die  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        world.loop().run_once()
    del asking.ask_for
    asking.brings = "n2"  # of a link that was told, and died after it
    with pytest.raises(KeyboardInterrupt):
        _tick_that_dies_before_it_writes(world)
    world.tick()
    assert told() == [("asked", ""), ("brought", "n2")]
    world.tick(5)
    assert MachineRequest.objects.count() == 1
    assert asking.asked == []


def _tick_that_dies_before_it_writes(world: World) -> None:
    def die(*_: object) -> object:
        raise KeyboardInterrupt

    plan, world.planner = world.planner, die  # type: ignore[assignment]
    try:
        world.loop().run_once()
    finally:
        world.planner = plan


def test_a_cluster_that_cannot_be_asked_is_asked_later(world: World, asking: Keeper) -> None:
    request = asks_for_one(world)

    def refuse(*_: object) -> dict[str, str]:
        raise HostUnavailable("the link to Ray ended")

    asking.ask_for = refuse  # type: ignore[method-assign]
    world.tick(2)
    del asking.ask_for
    world.tick()
    assert name_of(asking, request)
    assert told() == [("asked", "")]


def test_a_request_ends_with_its_need(world: World, asking: Keeper) -> None:
    asks_for_one(world)
    Job.objects.all().delete()
    world.tick()
    assert told() == [("asked", ""), ("withdrawn", "")]
    world.tick()
    assert asking.asked == []


def test_a_request_ends_when_an_admin_says_that_none_is_asked_for(
    world: World, asking: Keeper
) -> None:
    asks_for_one(world)
    Pool.objects.update(nodes_max=None)
    world.tick(2)
    assert told() == [("asked", ""), ("withdrawn", "")]
    assert asking.asked == []


def test_an_idle_node_is_closed_then_released_then_gone(world: World, asking: Keeper) -> None:
    asking.has("n1", "n2")
    world.tick(2)
    Pool.objects.update(nodes_min=1)
    world.clock.advance(10 * 60.0)
    world.tick()
    closed = Node.objects.get(giving_back_since__isnull=False)
    assert told() == [("closed", closed.name)]
    assert (closed.takes_work, closed.is_draining, closed.is_released) == (False, True, False)
    assert closed.leaving_because == "it is given back: nothing has run there for 10 minutes"
    assert closed.name in NodeRows()()  # nobody else gets its GPUs yet
    world.tick()
    assert told() == [("closed", closed.name), ("given_back", closed.name)]
    kept = ({"n1", "n2"} - {closed.name}).pop()
    assert set(NodeRows()()) == {kept}  # so that the link gives its lease back
    world.tick(3)
    assert Node.objects.count() == 2
    asking.has(kept)  # the autoscaler has taken it
    world.tick()
    assert list(Node.objects.values_list("name", flat=True)) == [kept]
    world.clock.advance(3600.0)
    world.tick(2)
    assert len(told()) == 2  # nodes_min


def test_a_node_that_is_given_back_is_taken_back_instead_of_another(
    world: World, asking: Keeper
) -> None:
    Pool.objects.update(nodes_max=1)
    world.tick()
    world.clock.advance(10 * 60.0)
    world.tick(2)
    assert Node.objects.get().is_released
    world.job()
    world.tick()
    assert told()[-1] == ("taken_back", "n1")
    node = Node.objects.get()
    assert (node.is_schedulable, node.is_released, node.leaving_because) == (True, False, "")
    assert node.silent_reason  # its lease is made anew, and it is looked at first
    world.tick()
    assert Node.objects.get().takes_work
    assert MachineRequest.objects.count() == 0


def test_an_admin_who_opens_a_node_keeps_it(world: World, asking: Keeper) -> None:
    world.tick()
    world.clock.advance(10 * 60.0)
    world.tick(2)
    maintain("n1", Maintenance.UNCORDON)
    world.tick()
    assert Node.objects.get().takes_work
    assert set(NodeRows()()) == {"n1"}
    assert told() == [("closed", "n1"), ("given_back", "n1")]


def test_a_pool_whose_labels_are_gone_has_its_nodes_again(world: World, asking: Keeper) -> None:
    world.tick()
    world.clock.advance(10 * 60.0)
    world.tick(2)
    Pool.objects.update(ray_selector={}, nodes_max=None, gpus_per_node=None)
    world.tick(2)
    assert Node.objects.get().takes_work


def test_a_pool_without_the_setting_asks_for_nothing(world: World, keeper: Keeper) -> None:
    world.planner = planner.plan  # type: ignore[assignment]
    world.job(elastic={"min_workers": 6, "max_workers": 6})
    world.tick()
    world.clock.advance(3600.0)
    world.tick(2)
    assert (told(), keeper.asked) == ([], [])


def test_machines_are_asked_for_with_the_labels_of_the_pool(world: World, asking: Keeper) -> None:
    asks_for_one(world)
    world.tick()
    (wish,) = asking.wishes
    assert (wish.selector, wish.gpus, wish.cpus) == (LABELS, 0, 4)  # a slot is a processor
    Pool.objects.update(gpu_type="h100")
    world.tick()
    (other,) = asking.wishes
    assert (other.gpus, other.cpus) == (4, 0)
    assert other.name != wish.name  # what was asked for before is withdrawn
    assert MachineRequest.objects.count() == 1


def test_the_first_machine_of_a_pool_comes_though_no_node_answers(
    world: World, asking: Keeper
) -> None:
    """What asked for it holds its GPUs until that is written down, and there is no tick before."""
    asking.has()
    Node.objects.all().delete()
    Pool.objects.update(nodes_min=1)
    world.tick()
    asking.has("n2")
    asking.brings = "n2"
    world.host.is_unavailable = True  # the only node is silent
    assert not world.loop().run_once()
    assert told() == [("asked", ""), ("brought", "n2")]
    assert not world.loop().run_once()
    assert asking.asked == []
    world.host.is_unavailable = False
    world.tick()
    assert told()[2:] == [("arrived", "n2")]


def test_a_need_that_nobody_can_work_out_withdraws_nothing(world: World, asking: Keeper) -> None:
    """Planning with one more node may fail, or take too long, where planning does not."""
    asks_for_one(world)

    def fail_with_more(state: ClusterState) -> Plan:
        if any(node.name.startswith("(new") for node in state.pools[0].nodes):
            raise ArithmeticError
        return planner.plan(state)

    world.planner = fail_with_more  # type: ignore[assignment]
    world.tick(3)
    assert told() == [("asked", "")]


def test_a_pool_that_asks_again_remembers_nothing_of_before(world: World, asking: Keeper) -> None:
    asking.has("n1", "n2")
    world.tick(2)
    assert Node.objects.exclude(idle_since=None).count() == 2
    Pool.objects.update(nodes_max=None, needs_a_node_since=world.clock(), asking_note="It is full.")
    world.tick()
    pool = Pool.objects.get()
    assert (pool.needs_a_node_since, pool.asking_note) == (None, "")
    assert Node.objects.filter(idle_since=None).count() == 2
    world.clock.advance(3600.0)
    Pool.objects.update(nodes_max=2)
    world.tick(2)
    assert told() == []


def test_a_machine_that_takes_no_work_is_given_back(world: World, asking: Keeper) -> None:
    """It costs as much as one that does, and the pool may have another instead."""
    asks_for_one(world)
    asking.has("n1", "n2")
    asking.brings = "n2"
    world.host.silent = {"n2": "no torch there"}
    world.tick(2)
    world.clock.advance(10 * 60.0)
    world.tick(2)
    happened = [("unusable", "n2"), ("closed", "n2"), ("given_back", "n2")]
    assert told() == [("asked", ""), ("brought", "n2"), *happened]
    assert set(NodeRows()()) == {"n1"}
    world.host.silent = {}  # nobody asks it
    asking.brings = ""
    world.clock.advance(PATIENCE)
    world.tick(2)
    assert told()[5:] == [("asked", "")]  # another, and not the same again
    asking.has("n1", "n3")
    world.tick(2)
    assert not Node.objects.filter(name="n2").exists()


def test_the_only_machine_is_given_back_though_there_is_no_tick(
    world: World, asking: Keeper
) -> None:
    """Where no node answers nothing is planned, and the machine costs all the same."""
    world.tick()
    world.host.is_unavailable = True
    world.host.silent = {"n1": "no torch there"}
    assert not world.loop().run_once()
    world.clock.advance(10 * 60.0)
    for _ in range(2):
        assert not world.loop().run_once()
    assert told() == [("closed", "n1"), ("given_back", "n1")]
    node = Node.objects.get()
    assert node.leaving_because.startswith("it is given back: it has taken no work for 10 minutes")
    maintain("n1", Maintenance.UNCORDON)
    assert not Node.objects.get().is_unfit


def test_nobody_who_tells_which_machines_there_are_gives_none_back(
    world: World, asking: Keeper
) -> None:
    asking.has("n1", "n2")
    world.host.silent = {"n2": "no torch there"}
    world.tick(2)
    asking.machines = None
    world.clock.advance(3600.0)
    world.tick(2)
    assert told() == []


def test_many_pools_are_looked_at_at_once(world: World, asking: Keeper) -> None:
    def statements(pools: int) -> list[str]:
        for number in range(pools):
            pool = Pool.objects.create(
                name=f"more-{pools}-{number}",
                ray_selector={"concertina.io/pool": f"more-{pools}-{number}"},
                nodes_max=2,
                gpus_per_node=4,
            )
            pool.machine_requests.create(asked_at=world.clock(), ended_at=world.clock())
        world.tick(2)
        with CaptureQueriesContext(connection) as seen:
            world.tick()
        made = [one["sql"] for one in seen]
        return [sql[:60] for sql in made if "machine" in sql or "nodes_max" in sql]

    assert statements(1) == statements(9)
