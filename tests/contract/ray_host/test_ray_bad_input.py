"""What keeps the link out of a real Ray cluster is told in words that say what to change."""

from __future__ import annotations

import os
import socketserver
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cluster.ray_host.link_process import Link
from cluster.worker_host import HostUnavailable

from tests.ray_cluster import RayCluster

pytestmark = pytest.mark.thorough  # with a real cluster
LONG = 120.0


def trouble(link: Link, env: Mapping[str, str] | None = None) -> str:
    """What a link says that sees these variables instead; None: it is without."""
    link.env = {**link.env, **(env or {})}
    try:
        with pytest.raises(HostUnavailable) as caught:
            link.ask({"roster": True, "seconds": LONG}, seconds=LONG)
    finally:
        link.close()
    return str(caught.value)


@pytest.mark.parametrize("token", ["f" * 32, "short"])
def test_a_token_that_is_not_the_clusters_is_told(
    ray_cluster: RayCluster, tmp_path: Path, token: str
) -> None:
    """Ray itself says only that it failed to connect, after twenty seconds."""
    file = tmp_path / "token"
    file.write_text(token)
    said = trouble(ray_cluster.link(), {"RAY_AUTH_TOKEN_PATH": str(file)})
    assert "does not let us in with the token of CONCERTINA_RAY_TOKEN_FILE" in said
    assert "Write the cluster's into that file" in said


def test_a_cluster_with_a_token_that_is_said_to_have_none_is_told(
    ray_cluster: RayCluster,
) -> None:
    said = trouble(ray_cluster.link(), {"RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN_PATH": ""})
    assert "CONCERTINA_RAY_UNPROTECTED says that it has none" in said


def test_another_release_of_ray_is_told_with_both(ray_cluster: RayCluster, tmp_path: Path) -> None:
    link = ray_cluster.link()
    (tmp_path / "sitecustomize.py").write_text("import ray; ray.__version__ = '2.9.9'")
    said = trouble(link, {"PYTHONPATH": os.pathsep.join((str(tmp_path), link.env["PYTHONPATH"]))})
    assert "2.9.9" in said
    assert "2.60.0" in said
    assert "CONCERTINA_RAY_PYTHON name an interpreter" in said


class _Web(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(100)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.fixture
def web() -> Iterator[int]:
    """The port of something else."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Web) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_something_else_at_the_address_is_told_at_once(ray_cluster: RayCluster, web: int) -> None:
    said = trouble(ray_cluster.link(address=f"127.0.0.1:{web}"))
    assert "is something else: it says b'HTTP/1.1 '. Correct the address" in said
