"""What the planner hears of nodes that come, go, or are taken out of service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from cluster.models import Node, Pool
from cluster.nodes.maintenance import Maintenance, maintain
from control_plane.setup import applying
from control_plane.setup.nesting import WantedSetup
from control_plane.setup.objects import SetupKey, SetupKind
from django.utils import timezone
from tenancy.models import Quota

from autoscaler.control_loop.consistency import contradictions
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ChangeKind
from autoscaler.predictions.live_jobs import predict_live_jobs
from autoscaler.simulation.engine.prediction.prediction import Effort
from tests.control_loop.world import World, claims, fresh, live_workers
from tests.service.at_once import ask_at_once


def changes(world: World) -> list[tuple[ChangeKind, str]]:
    world.tick()
    return [(change.kind, change.name) for change in world.planner.seen[-1].changes]


def test_new_removed_and_drained_nodes_are_told_for_a_while(world: World) -> None:
    world.clock.advance(60)
    assert changes(world) == []
    world.clock.advance(-60)
    Node.objects.create(pool=Pool.objects.get(), name="n2", gpus=2)
    maintain("n1", Maintenance.DRAIN)
    maintain("n1", Maintenance.UNCORDON)
    Node.objects.get(name="n2").delete()
    assert changes(world) == [
        (ChangeKind.NODE_JOINED, "n1"),  # as the test's world began
        (ChangeKind.NODE_JOINED, "n2"),
        (ChangeKind.NODE_LOST, "n1"),
        (ChangeKind.NODE_LOST, "n2"),
    ]


def test_a_node_that_left_the_pool_since_the_plan_gives_it_no_gpus(
    make_world: Callable[..., World], db: None
) -> None:
    world = make_world(nodes=(2, 2))
    job = world.job()
    world.wish(job, {"n2": 1})  # as a plan says that was made before
    Node.objects.filter(name="n2").update(pool=Pool.objects.create(name="other"))
    world.tick()
    assert (fresh(job).state, claims()) == ("queued", set())


@pytest.mark.django_db(transaction=True)
def test_gpus_that_are_being_taken_away_are_given_to_nobody(
    make_world: Callable[..., World],
) -> None:
    world = make_world()
    job = world.job()
    world.wish(job, 4)
    key = SetupKey(SetupKind.NODE, "", "n1")
    fewer = WantedSetup(objects={key: {"gpus": 3, "pool": "default"}}, whole=frozenset())
    Quota.objects.all().delete()
    ask_at_once(lambda: applying.apply(fewer), world.tick)
    assert contradictions() == []
    assert (fresh(job).state, claims()) == ("queued", set())


def test_a_cordoned_node_is_closed_and_a_drained_one_is_draining(world: World) -> None:
    maintain("n1", Maintenance.CORDON)
    world.tick()
    (node,) = world.planner.seen[-1].pools[0].nodes
    assert (node.is_schedulable, node.is_draining) == (False, False)
    maintain("n1", Maintenance.DRAIN)
    world.tick()
    (node,) = world.planner.seen[-1].pools[0].nodes
    assert (node.is_schedulable, node.is_draining) == (False, True)


def test_a_job_that_waits_for_a_drained_node_names_it_and_what_would_help(world: World) -> None:
    job = world.job()
    maintain("n1", Maintenance.DRAIN)
    assert replace(world.loop(), planner=plan).run_once()
    told = fresh(job).message
    assert "Node n1 (4 GPUs) is being drained; an admin can let it take work again." in told
    predict_live_jobs(timezone.now(), effort=Effort(planned_jobs=100))
    remedy = fresh(job).remedy
    assert (remedy["kind"], remedy["node"]) == ("reopened_node", "n1")


def test_the_jobs_of_a_drained_node_move_and_never_stop(
    make_world: Callable[..., World], db: None
) -> None:
    """With the real planner."""
    world = make_world(nodes=(2, 2))
    job = world.job(elastic={"max_workers": 2, "min_workers": 2})
    coordinator = world.running(job, {"n1": 2})
    old = live_workers(job)
    maintain("n1", Maintenance.DRAIN)
    assert replace(world.loop(), planner=plan).run_once()
    assert (fresh(job).state, fresh(job).reason) == ("rescaling", "node_drained")
    world.wish(job, {"n2": 2})
    coordinator.train()
    for worker in old:
        world.host.exit(worker, 83)
    world.tick()
    assert fresh(job).state == "running"
    assert {node for node, _, _ in claims()} == {"n2"}
