"""A service over a database of its own, with jobs to list, and whom it lets in."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from benchmarks.api_cost.own_database import ROOT, own_service

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningService:
    """Where it listens, the token of a team with jobs, and one of these."""

    url: str
    token: str
    job: str


@contextmanager
def listening(jobs: int) -> Iterator[ListeningService]:
    """So many jobs run in it; it ends with the block."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with own_service(), socket.socket() as reserved:
        token, job = _made(jobs)
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        reserved.close()
        api = subprocess.Popen(
            (
                *(sys.executable, "-m", "gunicorn", "control_plane.asgi:application"),
                *("-k", "control_plane.gunicorn_worker.BoundedWorker"),
                *("--bind", url.removeprefix("http://"), "--log-level", "error"),
            ),
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"},
        )
        try:
            _wait_for(url, api)
            yield ListeningService(url=url, token=token, job=job)
        finally:
            api.terminate()
            api.wait()


def _made(jobs: int) -> tuple[str, str]:
    from cluster.in_memory_host import InMemoryHost  # noqa: PLC0415 - once Django is set up
    from tenancy.access.keys import tokens  # noqa: PLC0415

    from benchmarks.tick_cost.crowd import Crowd  # noqa: PLC0415
    from benchmarks.tick_cost.measuring import Meter  # noqa: PLC0415
    from jobs.models import Job  # noqa: PLC0415

    host = InMemoryHost()
    Crowd(host=host, jobs=jobs, workers=4).settle()
    Meter(host=host).tick()
    job = Job.objects.filter(state="running").select_related("team")[0]
    return tokens.issue(team=job.team, name="benchmark")[1], job.id


def _wait_for(url: str, api: subprocess.Popen[bytes]) -> None:
    while api.poll() is None:
        try:
            if httpx.get(f"{url}/api/v1/health", timeout=60).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the service did not start")
