"""What if a node's Docker is replaced by one of another version, while we talk to it?"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.worker_host import HostUnavailable

from tests.contract.conftest import docker_host


class Daemon(ThreadingUnixStreamServer):
    """Without containers; it speaks one version of the API only."""

    daemon_threads = True
    version = "1.43"


class Answer(BaseHTTPRequestHandler):
    """As Docker's."""

    protocol_version = "HTTP/1.1"
    server: Daemon

    def do_GET(self) -> None:
        version = self.server.version
        if self.path == "/version":
            self._say(HTTPStatus.OK, {"ApiVersion": version})
        elif self.path == f"/v{version}/info":  # asked for in the background, to remove networks
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, {"message": "not now"})
        elif self.path.startswith(f"/v{version}/"):
            self._say(HTTPStatus.OK, [])
        else:
            said = f"client version is too old. Minimum supported API version is {version}"
            self._say(HTTPStatus.BAD_REQUEST, {"message": said})

    def _say(self, status: HTTPStatus, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """To nobody."""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(str(tmp_path / "docker.sock"), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_daemon_that_was_upgraded_is_talked_to_in_its_new_version(
    daemon: Daemon, tmp_path: Path
) -> None:
    endpoint = DaemonEndpoint(url=f"unix://{daemon.server_address!s}")
    with contextlib.closing(docker_host({"n1": endpoint}, tmp_path / "state")) as host:
        assert host.list().processes == ()
        daemon.version = "1.44"
        with pytest.raises(HostUnavailable, match="too old"):
            host.list()
        assert host.list().processes == ()
