"""Does a job whose team may reach one host and port reach these, and nothing else?"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.end_to_end.in_containers.containers import Containers
from tests.end_to_end.in_containers.test_isolation import ip, job
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(1800)

ELSEWHERE = "198.51.100.7"  # of a network for documents; here it is one of this machine's
ASK = """\
import json, os, socket, sys, urllib.request
from http.client import HTTPConnection
from urllib.parse import urlsplit

def through(host, port):
    gate = urlsplit(os.environ["HTTPS_PROXY"])
    call = HTTPConnection(gate.hostname, gate.port, timeout=60)
    call.set_tunnel(host, port)
    try:
        call.request("GET", "/")
        return call.getresponse().read().decode()
    except OSError as problem:
        return str(problem)
    finally:
        call.close()

def past(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
        return "reached"
    except OSError:
        return "not reached"

asked = json.loads(os.environ["ASKED"])
print(json.dumps([[through(*one), past(*one)] for one in asked]), flush=True)
"""


class Answers(BaseHTTPRequestHandler):
    """Greets whoever asks."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"hello from {self.server.server_port}".encode())  # type: ignore[attr-defined]

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def elsewhere() -> Iterator[None]:
    interface = f"el{os.getpid()}"
    ip("link", "add", interface, "type", "bridge")
    try:
        ip("address", "add", f"{ELSEWHERE}/32", "dev", interface)
        ip("link", "set", interface, "up")
        yield
    finally:
        ip("link", "delete", interface)


@contextmanager
def serving() -> Iterator[int]:
    """A server on all addresses of this machine; gives its port."""
    server = ThreadingHTTPServer(("", 0), Answers)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_job_reaches_the_listed_host_and_port_and_no_other(
    docker_stack: RunningStack, containers: Containers
) -> None:
    assert containers.stack is docker_stack
    with ExitStack() as ends:
        ends.enter_context(elsewhere())
        listed, other = (ends.enter_context(serving()) for _ in range(2))
        api = ("127.0.0.1", int(docker_stack.url.rpartition(":")[2]))
        here = socket.gethostbyname(socket.gethostname())
        asked = [(ELSEWHERE, listed), (ELSEWHERE, other), (here, listed), api]
        client = ends.enter_context(docker_stack.client("vision"))
        spec = job("reaches", "-c", ASK, network="listed", env={"ASKED": json.dumps(asked)})
        spec["elastic"] = {"mode": "fixed", "max_workers": 1}
        refused = client.post("/api/v1/jobs", json=spec)
        assert (refused.status_code, refused.json()["details"][0]["field"]) == (422, "network")
        docker_stack.let_reach("vision", f"{ELSEWHERE}:{listed}")
        ends.callback(docker_stack.let_reach, "vision")
        submitted = SubmittedJob.submit(client, spec)
        ends.callback(submitted.cancel)
        until(lambda: submitted.is_in("completed"), what="it has asked")
        (said,) = (line for line in submitted.log_lines() if line.startswith("[["))
    (yes, past_yes), *others = json.loads(said)
    assert (yes, past_yes) == (f"hello from {listed}", "not reached")
    for through, past in others:
        assert ("403" in through, past) == (True, "not reached")
