"""Pools that follow a cluster: its machines become nodes, in ticks, on the real database."""

from __future__ import annotations

from cluster.models import Node, NodeChange, Pool
from cluster.nodes.maintenance import Maintenance, maintain
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.reconciling.limits import LIMITS
from tests.control_loop.following.keeper import Keeper
from tests.control_loop.world import World, claims, fresh, kinds


def names() -> list[str]:
    return list(Node.objects.values_list("name", flat=True))


def told(name: str) -> list[str]:
    return list(NodeChange.objects.filter(node=name).order_by("id").values_list("kind", flat=True))


def lost(world: World) -> None:
    world.clock.advance(LIMITS.node_lost_after + 1.0)


def test_new_machines_are_nodes_that_open_when_somebody_looked_there(
    world: World, keeper: Keeper
) -> None:
    keeper.has("n1", "n2")
    world.host.silent["n2"] = "its agent is being started"
    world.tick()
    node = Node.objects.get(name="n2")
    assert (node.gpus, node.takes_work, node.silent_reason) == (4, False, world.host.silent["n2"])
    world.host.silent.clear()
    world.tick()
    assert Node.objects.get(name="n2").takes_work
    assert told("n2") == ["joined"]


def test_the_first_node_of_a_pool_comes_by_itself(world: World, keeper: Keeper) -> None:
    Node.objects.all().delete()
    world.tick(2)
    assert [node.takes_work for node in Node.objects.all()] == [True]


def test_one_that_is_gone_loses_its_job_first_and_then_its_row(
    world: World, keeper: Keeper
) -> None:
    keeper.has("n1", "n2")
    world.tick()
    job = world.job()
    coordinator = world.running(job, {"n1": 1, "n2": 1})
    keeper.has("n1")
    world.host.silent["n2"] = "Ray says that it is dead"
    world.tick()
    assert (names(), len(claims())) == (["n1", "n2"], 2)
    lost(world)
    coordinator.sync()
    world.wish(job, 1)
    world.tick(2)
    assert "n2" in names()  # its job had workers there, and has not gone on yet
    coordinator.train()
    fresh(job)
    assert {node for node, _, _ in claims()} == {"n1"}


def test_a_lost_node_that_nobody_uses_goes_and_may_come_again(world: World, keeper: Keeper) -> None:
    keeper.has("n1", "n2")
    world.tick()
    keeper.has("n1")
    world.host.silent["n2"] = "Ray says that it is dead"
    world.tick()
    assert names() == ["n1", "n2"]
    lost(world)
    world.tick()
    assert names() == ["n1"]
    assert told("n2") == ["joined", "lost"]
    keeper.has("n1", "n2")
    world.host.silent.clear()
    world.tick()
    assert Node.objects.get(name="n2").takes_work


def test_all_nodes_may_be_gone_and_new_ones_come(world: World, keeper: Keeper) -> None:
    """No node answers, so that there is no tick; the cluster is asked all the same."""
    world.host.silent["n1"] = "Ray says that it is dead"
    world.host.is_unavailable = True
    keeper.has("n2")
    assert not world.loop().run_once()
    assert names() == ["n1", "n2"]


def test_nobody_who_tells_is_not_a_cluster_without_machines(world: World, keeper: Keeper) -> None:
    keeper.machines = None
    world.host.silent["n1"] = "the link to Ray ended"
    world.host.silent["n2"] = "the link to Ray ended"
    lost(world)
    world.tick()
    assert names() == ["n1"]


def test_a_machine_that_the_cluster_takes_back_is_drained_at_once(
    world: World, keeper: Keeper
) -> None:
    job = world.job()
    world.running(job, 1)
    keeper.has("n1", leaving_because="Ray drains it")
    world.tick()
    (node,) = world.planner.seen[-1].pools[0].nodes
    assert node.is_draining
    assert Node.objects.get().leaving_because == "Ray drains it"
    keeper.has("n1")
    world.tick()
    assert Node.objects.get().takes_work
    assert told("n1")[-2:] == ["draining", "uncordoned"]
    assert "failed" not in kinds(job)


def test_what_an_admin_closed_stays_closed(world: World, keeper: Keeper) -> None:
    maintain("n1", Maintenance.CORDON)
    keeper.has("n1", leaving_because="Ray drains it")
    world.tick()
    assert Node.objects.get().is_draining
    keeper.has("n1")
    world.tick()
    assert not Node.objects.get().is_schedulable
    keeper.has("n1", leaving_because="Ray drains it")
    maintain("n1", Maintenance.UNCORDON)
    world.tick()
    maintain("n1", Maintenance.DRAIN)  # an admin means it from now on
    keeper.has("n1")
    world.tick()
    assert Node.objects.get().is_draining


def test_a_node_has_the_gpus_that_its_machine_has_now(world: World, keeper: Keeper) -> None:
    Node.objects.update(gpu_uuids=["a", "b", "c", "d"])
    keeper.has("n1", gpus=8, address="10.0.0.7")
    world.tick()
    node = Node.objects.get()
    assert (node.gpus, node.gpu_uuids, node.address) == (8, [], "10.0.0.7")


def test_what_admins_should_know_stands_at_the_pool(world: World, keeper: Keeper) -> None:
    keeper.has("n1", gpus=1)
    world.tick()
    assert Pool.objects.get().following_note.startswith("Teams are guaranteed 4 GPUs, and 1 are")
    keeper.has("n1")
    world.tick()
    assert Pool.objects.get().following_note == ""


def test_a_tick_that_follows_reads_a_few_times_and_writes_nothing(
    world: World, keeper: Keeper
) -> None:
    world.tick(2)

    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            world.tick()
        return [one["sql"] for one in seen.captured_queries]

    follows = statements()
    world.host.roster_keeper = None
    assert len(follows) - len(statements()) == 7
    # pools, teams, quotas, nodes; what is asked for, and whether we may ask; which pools ask
    world.host.roster_keeper = keeper
    Pool.objects.update(ray_selector={})
    assert len(follows) - len(statements()) == 3
