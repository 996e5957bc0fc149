"""Who may own the name of an image that was made here? Nobody else: it is fetched from nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import docker.errors
import pytest
from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.docker_host.container.images import Images, ImageUnavailable

NODE = DaemonEndpoint(url="unix:///nowhere/docker.sock")


@dataclass
class Daemon:
    """A daemon without images, to which registries have whatever it asks for."""

    fetched: list[str] = field(default_factory=list)

    def inspect_image(self, image: str) -> dict[str, str]:
        if image not in self.fetched:
            raise docker.errors.ImageNotFound(image)
        return {"Id": image}

    def pull(self, image: str, **_: Any) -> Iterator[dict[str, Any]]:
        self.fetched.append(image)
        return iter(())

    def close(self) -> None: ...


class Wires(Connections):
    """Lead to one daemon."""

    daemon = Daemon()

    def quick(self, _: DaemonEndpoint) -> Any:
        return self.daemon

    def connected(self, *_: object) -> Any:
        return self.daemon


@pytest.mark.parametrize(
    ("image", "is_fetched"),
    [
        ("localhost/concertina-worker:0.1.0", False),
        ("localhost:5000/worker:1", True),
        ("docker.io/pytorch/pytorch:2", True),
    ],
)
def test_an_image_that_is_made_on_nodes_is_never_fetched(image: str, *, is_fetched: bool) -> None:
    wires = Wires(answer_seconds=1.0, tunnels=Tunnels(seconds=1.0))
    wires.daemon.fetched.clear()
    images = Images(connections=wires)
    if is_fetched:
        images.fetch(image, NODE, logins=(), tell=lambda _: None)
        assert wires.daemon.fetched == [image]
        return
    with pytest.raises(ImageUnavailable, match="Build or load it there"):
        images.fetch(image, NODE, logins=(), tell=lambda _: None)
    assert wires.daemon.fetched == []
