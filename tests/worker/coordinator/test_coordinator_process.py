"""The coordinator as a process: small, quick, and deaf to strangers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concertina_worker.coordinator.__main__ import run
from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import HttpService, ServiceUnavailableError
from concertina_worker.environment import CoordinatorEnvironment
from concertina_worker.protocol import ExitCode
from concertina_worker.wire import ProtocolError
from tests.ports import free_port
from tests.worker.running_job import TOKEN, RunningJob
from tests.worker.service_twin import ServiceTwin

HELLO = {
    "type": "hello",
    "token": TOKEN,
    "worker": "w9",
    "attempt": 1,
    "phase": "connected",
    "plan": None,
    "failed_in": 0,
    "model_bytes": 0,
}


def python(code: str) -> str:
    path = os.pathsep.join(path for path in sys.path if path)
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.strip()


@pytest.mark.parametrize(
    "module", ["concertina_worker.protocol", "concertina_worker.coordinator.__main__"]
)
def test_the_contract_and_the_coordinator_need_the_standard_library_only(module: str) -> None:
    code = (
        f"import {module}, sys;"
        "print([n for n in sys.modules if n.split('.')[0] in ('torch', 'numpy', 'django')])"
    )
    assert python(code) == "[]"


def test_the_package_offers_its_names_on_first_use() -> None:
    code = (
        "import concertina_worker as elastic, sys;"
        "assert 'torch' not in sys.modules;"
        "print(elastic.init.__name__, elastic.Job.__name__)"
    )
    assert python(code) == "init ElasticJob"


def converse(job: RunningJob, *lines: bytes) -> bytes:
    """The first that the coordinator answers; nothing when it hangs up."""
    job.wait_until_it_listens()
    with socket.create_connection(("127.0.0.1", job.port), timeout=90.0) as stream:
        stream.sendall(b"".join(lines))
        return stream.recv(4096)


def line(**changes: Any) -> bytes:
    return json.dumps({**HELLO, **changes}).encode() + b"\n"


@pytest.mark.parametrize(
    "lines",
    [
        [b"GET / HTTP/1.1\r\n"],
        [line(token="guessed")],
        [line(phase="dancing")],
        [line(type="ready")],
        [line(), b'{"type": "switched", "generation": "many"}\n'],
        [line(), b'{"type": "progress", "metric": {}, "measurement": null}\n'],
    ],
    ids=["http", "wrong token", "unknown phase", "no hello", "no number", "empty metric"],
)
def test_strangers_and_nonsense_are_dropped(
    make_job: Callable[..., RunningJob], lines: list[bytes]
) -> None:
    job = make_job()
    assert converse(job, *lines) == b""
    assert converse(job, line(), b'{"type": "goodbye"}\n') == b'{"type":"farewell"}\n'


def test_an_unknown_kind_of_message_is_refused() -> None:
    with pytest.raises(ProtocolError, match="dance"):
        to_event("w1", {"type": "dance"})


def test_a_wrong_answer_of_the_service_is_no_answer(tmp_path: Path) -> None:
    twin = ServiceTwin(TOKEN)
    try:
        service = HttpService(url=twin.url, job_id="j", token=TOKEN)
        report: Any = {"generations": [], "metrics": []}
        assert service.sync(report)["action"] == "run"
        twin.desired["workers"] = "w1"  # type: ignore[typeddict-item] # wrong on purpose
        with pytest.raises(ServiceUnavailableError, match="no list of names"):
            service.sync(report)
        with pytest.raises(ServiceUnavailableError, match="401"):
            HttpService(url=twin.url, job_id="j", token="other").sync(report)
    finally:
        twin.close()


def test_one_that_was_asked_to_end_says_that_it_may_not_have_told_all(
    make_job: Callable[..., RunningJob],
) -> None:
    """Else a job that is over would be closed without its last generations and numbers."""
    job = make_job()
    job.wait_until_it_listens()
    job.coordinators[-1].signal(signal.SIGTERM)
    job.wait("it ends", lambda: job.coordinator_code is not None)
    assert job.coordinator_code == ExitCode.UNHEARD


def test_an_error_of_its_own_does_not_pass_for_a_job_that_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Server) -> None:
        raise KeyError("w1")

    monkeypatch.setattr(Server, "watch", fail)
    here = CoordinatorEnvironment(
        job_id="j",
        token=TOKEN,
        service_token=TOKEN,
        host="127.0.0.1",
        port=free_port(),
        service_url="http://127.0.0.1:1",
        state_dir=tmp_path,
        term=0,
        start=0,
        rendezvous=None,
    )
    with pytest.raises(KeyError, match="w1"):
        asyncio.run(run(here))
