"""What becomes of processes when machines of a real Ray cluster are cut off, or lose its head?

A cluster for each, for what was struck is not whole again at once. One after the other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.ray_host.host import RayHost
from cluster.worker_host import HostUnavailable, ObservedProcess

from tests.contract.conftest import RayBench, answers, exited, observed, texts, until
from tests.ray_nodes import NODE, RayNodes, ray_nodes

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]
LONG = 180.0
COUNTS = ("sh", "-c", "n=0; while n=$((n + 1)); do echo $n; sleep 0.05; done")


@pytest.fixture
def machines() -> Iterator[RayNodes]:
    with ray_nodes() as made:
        yield made


class _Bench(RayBench):
    """On the node of its own network."""

    @property
    def known(self) -> dict[str, object]:
        return {"env": {}, "node": NODE}


@pytest.fixture
def bench(machines: RayNodes, tmp_path: Path) -> Iterator[RayBench]:
    host = RayHost(
        state_dir=tmp_path / "state", link=machines.link(), nodes=lambda: {NODE: 2},
        answer_seconds=5.0,
    )  # fmt: skip
    until(lambda: answers(host), seconds=LONG)
    made = _Bench(host=host, folder=tmp_path)
    made.launch("w1", COUNTS)
    until(lambda: len(texts(made, "w1")) > 3)
    yield made
    host.close()


def goes_on(bench: RayBench, before: ObservedProcess | None) -> None:
    """It is the process that it was, and each line that it wrote is there once."""
    assert observed(bench.host, "w1") == before
    count = len(texts(bench, "w1"))
    until(lambda: len(texts(bench, "w1")) > count + 5)
    told = texts(bench, "w1")
    assert told == [str(number) for number in range(1, len(told) + 1)]


def silence_of(host: RayHost) -> str:
    try:
        return host.list().silent_nodes.get(NODE, "")
    except HostUnavailable as problem:
        return problem.silent_nodes.get(NODE, "")


def test_a_cable_that_is_out_for_a_while_costs_nothing(machines: RayNodes, bench: RayBench) -> None:
    """Silent by our own deadline, long before Ray notices; all as before when it is in again."""
    before = observed(bench.host, "w1")
    machines.node.cut()
    began = time.monotonic()
    until(lambda: silence_of(bench.host))
    assert time.monotonic() - began < 60.0  # 5 s, on a machine that has nothing else to do
    machines.node.heal()
    until(lambda: answers(bench.host), seconds=LONG)
    goes_on(bench, before)


def test_a_raylet_that_dies_is_silent_and_its_processes_are_adopted(
    machines: RayNodes, bench: RayBench
) -> None:
    before = observed(bench.host, "w1")
    machines.kill("raylet/raylet ", on=machines.node)
    until(lambda: silence_of(bench.host))
    machines.end_ray(on=machines.node)
    machines.start_node()
    until(lambda: answers(bench.host), seconds=LONG)
    goes_on(bench, before)


def test_a_cable_that_is_out_beyond_rays_patience_ends_ray_there_and_no_process(
    machines: RayNodes, bench: RayBench
) -> None:
    before = observed(bench.host, "w1")
    machines.node.cut()
    until(lambda: "Ray says that it is dead" in silence_of(bench.host), seconds=LONG)
    machines.node.heal()
    until(lambda: not machines.processes("raylet/raylet ", on=machines.node), seconds=LONG)
    machines.end_ray(on=machines.node)
    machines.start_node()
    until(lambda: answers(bench.host), seconds=LONG)
    goes_on(bench, before)


def test_a_head_that_dies_and_comes_back_with_its_store_is_not_missed(
    machines: RayNodes, bench: RayBench
) -> None:
    before = observed(bench.host, "w1")
    machines.end_ray(on=machines.head)
    bench.start("w2")
    bench.end("w2", 3)
    assert exited(bench.host, "w2").exit_code == 3
    assert set(bench.host.list().by_id()) == {"w1", "w2"}
    machines.start_head()
    bench.start("w3")
    goes_on(bench, before)


def test_a_link_that_is_begun_while_the_head_is_away_gets_in_when_it_is_back(
    machines: RayNodes, bench: RayBench
) -> None:
    """This machine sees the raylet of the new head, which is not its own."""
    before = observed(bench.host, "w1")
    machines.end_ray(on=machines.head)
    bench.host.link.close()
    until(lambda: not answers(bench.host))
    machines.start_head()
    until(lambda: answers(bench.host), seconds=LONG)
    goes_on(bench, before)


def test_a_raylet_beside_the_service_that_dies_is_missed_until_it_is_back(
    machines: RayNodes, bench: RayBench
) -> None:
    """The link ends with it, and the next one goes through the next raylet."""
    before = observed(bench.host, "w1")
    machines.kill("raylet/raylet ", on=None)
    until(lambda: not answers(bench.host), seconds=LONG)
    machines.end_ray(on=None)
    machines.start_beside_the_tests()
    until(lambda: answers(bench.host), seconds=LONG)
    goes_on(bench, before)
