"""Images are fetched ahead in the background, again and again until they are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.images import ImageUnavailable, RegistryTrouble
from cluster.docker_host.prefetching import Prefetching
from cluster.worker_host import NodeImage

from tests.contract.conftest import until

HERE, THERE = DaemonEndpoint(url="unix:///here"), DaemonEndpoint(url="unix:///there")


@dataclass
class Registry:
    """In place of `Images`: what it is asked for, and what it answers."""

    problems: dict[str, Exception] = field(default_factory=dict)
    fetched: list[tuple[str, DaemonEndpoint]] = field(default_factory=list)

    def fetch(
        self, image: str, endpoint: DaemonEndpoint, *, logins: Any, tell: Callable[[str], None]
    ) -> None:
        assert logins == ()
        tell(f"fetching image {image}")
        self.fetched.append((image, endpoint))
        if image in self.problems:
            raise self.problems[image]


@dataclass
class Clock:
    now: float = 0.0


def prefetching(registry: Any, clock: Clock, **by_node: DaemonEndpoint) -> Prefetching:
    nobody: Any = None
    daemons = Daemons(endpoints=lambda: by_node, connections=nobody)
    return Prefetching(daemons=daemons, images=registry, now=lambda: clock.now)


def wanted(*nodes: str, image: str = "mine:1") -> tuple[NodeImage, ...]:
    return tuple(NodeImage(node=node, image=image) for node in nodes)


def test_an_image_is_fetched_once_on_each_daemon_and_looked_for_again_later() -> None:
    registry, clock = Registry(), Clock()
    images = prefetching(registry, clock, n1=HERE, n2=HERE, n3=THERE)
    asked = wanted("n1", "n2", "n3", "unknown")
    until(lambda: images.go_on(asked) == dict.fromkeys(asked[:3], ""))
    assert sorted(registry.fetched, key=str) == [("mine:1", HERE), ("mine:1", THERE)]
    clock.now += 61
    until(lambda: len(registry.fetched) == 4 or not images.go_on(asked))


def test_what_a_registry_refuses_is_told_and_asked_for_again_a_minute_later() -> None:
    registry, clock = Registry(), Clock()
    registry.problems = {"mine:1": ImageUnavailable("denied"), "far:1": RegistryTrouble("timeout")}
    images = prefetching(registry, clock, n1=HERE)
    asked = (*wanted("n1"), *wanted("n1", image="far:1"))
    until(lambda: images.go_on(asked) == dict(zip(asked, ("denied", "timeout"), strict=True)))
    registry.problems.clear()
    assert images.go_on(asked) == dict(zip(asked, ("denied", "timeout"), strict=True))
    clock.now += 61
    until(lambda: images.go_on(asked) == dict.fromkeys(asked, ""))


def test_what_is_not_wanted_any_more_is_forgotten() -> None:
    registry, clock = Registry(), Clock()
    images = prefetching(registry, clock, n1=HERE)
    until(lambda: images.go_on(wanted("n1")) == dict.fromkeys(wanted("n1"), ""))
    assert images.go_on(()) == {}
    assert images.go_on(wanted("n1")) == {}
