"""Nodes are asked what their machines are like, and no tick waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from cluster.gpu_listing import Gpu
from cluster.machine import NodeMachine
from cluster.models import Node
from cluster.worker_host import HostUnavailable

from tests.control_loop.nodes.test_gpu_discovery import ticks_until
from tests.control_loop.world import World

GIB = 1 << 30


@dataclass(slots=True, kw_only=True)
class Survey:
    """Tells of its machines."""

    machines: dict[str, NodeMachine] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def machine(self, node: str) -> NodeMachine:
        self.asked.append(node)
        if node not in self.machines:
            raise HostUnavailable("no answer")
        return self.machines[node]

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        raise AssertionError(node)  # there are slots only


@pytest.fixture
def survey(world: World) -> Survey:
    made = Survey()
    world.host.survey = made
    return made


def described() -> tuple[int | None, int | None, str]:
    node = Node.objects.get(name="n1")
    return node.memory_bytes, node.cpus, node.complaints


def test_a_machine_is_described_and_asked_again_after_an_hour(world: World, survey: Survey) -> None:
    survey.machines["n1"] = NodeMachine(memory_bytes=64 * GIB, cpus=16, complaints=("old", "older"))
    ticks_until(world, lambda: described()[0])
    assert described() == (64 * GIB, 16, "old\nolder")
    world.tick(2)
    assert survey.asked == ["n1"]
    survey.machines["n1"] = NodeMachine(memory_bytes=128 * GIB, cpus=16)
    world.clock.advance(3601)
    ticks_until(world, lambda: described() == (128 * GIB, 16, ""))


def test_what_was_known_of_a_machine_outlasts_its_silence(
    world: World, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    Node.objects.update(memory_bytes=GIB, cpus=2)
    ticks_until(world, lambda: "cannot be asked: no answer" in caplog.text)
    assert described() == (GIB, 2, "")
