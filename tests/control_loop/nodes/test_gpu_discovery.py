"""Nodes with GPUs that nobody has named are asked for the names, and no tick waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.gpu_listing import Gpu
from cluster.machine import NodeMachine
from cluster.models import Node, Pool
from cluster.worker_host import WorkerHostError

from tests.control_loop.world import World

UUIDS = ["GPU-aa", "GPU-bb", "GPU-cc", "GPU-dd"]


def gpus(*uuids: str) -> tuple[Gpu, ...]:
    return tuple(Gpu(index=i, name="NVIDIA H200", uuid=uuid) for i, uuid in enumerate(uuids))


@dataclass(slots=True, kw_only=True)
class Survey:
    """Counts questions; answers when it may."""

    gpus_by_node: dict[str, tuple[Gpu, ...]]
    asked: list[str] = field(default_factory=list)
    problem: str = ""
    odd: set[str] = field(default_factory=set)  # nodes whose daemon says what nobody expects
    may_answer: threading.Event = field(default_factory=threading.Event)

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        self.asked.append(node)
        assert self.may_answer.wait(90)
        if node in self.odd:
            raise KeyError("Runtimes")
        if self.problem:
            raise WorkerHostError(self.problem)
        return self.gpus_by_node.get(node, ())

    def machine(self, node: str) -> NodeMachine:  # noqa: ARG002 - all the same
        return NodeMachine(memory_bytes=1 << 30, cpus=1)


@pytest.fixture
def survey(world: World) -> Survey:
    """Of the small world, with GPUs and containers; it answers at once."""
    Pool.objects.update(gpu_type="nvidia-h200")
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir,
        service_url="http://api:8000",
        image="localhost/concertina-worker:1",
    )
    made = Survey(gpus_by_node={"n1": gpus(*UUIDS)})
    made.may_answer.set()
    world.host.survey = made
    return made


def ticks_until(world: World, look: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + 90
    while not look():
        assert time.monotonic() < give_up_at, "the condition did not come true in time"
        world.tick()


def names() -> list[str]:
    found: list[str] = Node.objects.get(name="n1").gpu_uuids
    return found


def test_a_node_is_named_its_gpus_once(world: World, survey: Survey) -> None:
    ticks_until(world, names)
    assert names() == UUIDS
    world.clock.advance(301)
    world.tick(2)
    assert survey.asked == ["n1"]


def test_no_tick_waits_for_an_answer_and_none_asks_twice(world: World, survey: Survey) -> None:
    survey.may_answer.clear()
    ticks_until(world, lambda: survey.asked)
    world.clock.advance(301)
    world.tick(2)
    assert (survey.asked, names()) == (["n1"], [])
    survey.may_answer.set()
    ticks_until(world, names)


def test_names_that_somebody_wrote_meanwhile_stay(
    world: World, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    survey.may_answer.clear()
    Node.objects.create(pool=Pool.objects.get(), name="n2", gpus=1)
    ticks_until(world, lambda: survey.asked)
    Node.objects.filter(name="n1").update(gpu_uuids=["GPU-ee"] * 4)
    survey.may_answer.set()
    ticks_until(world, lambda: "GPUs of node n2" in caplog.text)  # asked after it
    assert names() == ["GPU-ee"] * 4


@pytest.mark.parametrize(
    ("found", "advice"), [(UUIDS[:2], "correct the node's number"), ([], "container toolkit")]
)
def test_another_number_of_gpus_is_told_once_and_written_when_it_is_right(
    world: World,
    survey: Survey,
    caplog: pytest.LogCaptureFixture,
    found: list[str],
    advice: str,
) -> None:
    survey.gpus_by_node["n1"] = gpus(*found)
    ticks_until(world, lambda: advice in caplog.text)
    assert f"lists {len(found)}, but the node is said to have 4" in caplog.text
    world.clock.advance(301)
    ticks_until(world, lambda: len(survey.asked) == 2)
    survey.gpus_by_node["n1"] = gpus(*UUIDS)
    world.clock.advance(301)
    ticks_until(world, names)
    assert caplog.text.count(advice) == 1


def test_a_node_that_cannot_tell_is_asked_again_after_a_while(
    world: World, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    survey.problem = "NVIDIA's driver does not answer"
    ticks_until(world, lambda: "cannot be asked: NVIDIA's driver" in caplog.text)
    world.clock.advance(50)
    world.tick(2)
    assert survey.asked == ["n1"]
    survey.problem = ""
    world.clock.advance(11)
    ticks_until(world, names)


def test_an_odd_answer_keeps_no_other_node_from_being_asked(
    world: World, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    other = Node.objects.create(pool=Pool.objects.get(), name="n2", gpus=1)
    survey.odd.add("n1")
    survey.gpus_by_node["n2"] = gpus("GPU-ee")
    ticks_until(world, lambda: Node.objects.get(pk=other.pk).gpu_uuids)
    assert names() == []
    assert "its answer cannot be understood: KeyError('Runtimes')" in caplog.text


@pytest.mark.parametrize("reason", ["slots", "silence", "nobody"])
def test_only_nodes_with_gpus_that_answer_are_asked(
    world: World, survey: Survey, reason: str
) -> None:
    if reason == "slots":
        Pool.objects.update(gpu_type="slot")
    elif reason == "silence":
        world.host.silent["n1"] = "no route"
    else:
        world.host.survey = None
    world.tick(2)
    assert survey.asked == []
