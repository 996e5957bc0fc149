"""The real api as a process of its own, over the test database, that can die and come back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import httpx
from django.conf import settings
from django.db import connection
from local_stack.checkout import ROOT, free_port
from local_stack.processes.child_process import ChildProcess, ProcessSpec

PROXY: Final = "127.0.0.2"  # an address of this machine from which ours comes
METRICS_KEY: Final = "for-tests-only-a-key-for-metrics"


class RunningApi:
    """Listens on the same port over all its lives."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port(9200 + os.getpid() % 700)  # other runs have others
        self.data_folder = folder / "data"  # below which sources of data may lie
        self.data_folder.mkdir()
        self.url = f"http://127.0.0.1:{self._port}"
        self._spec = ProcessSpec(
            name="api",
            command=(
                *(sys.executable, "-m", "gunicorn", "control_plane.asgi:application"),
                *("-k", "control_plane.gunicorn_worker.BoundedWorker"),
                *("--bind", f"127.0.0.1:{self._port}", "--graceful-timeout", "1"),
            ),
            log=folder / "api.log",
            working_directory=ROOT,
            environment={
                **_environment(),
                "CONCERTINA_DATA_FOLDERS": str(self.data_folder),
                "CONCERTINA_METRICS_KEYS": METRICS_KEY,
                "CONCERTINA_MAIL_SERVER": "smtp+plain://127.0.0.1:9",  # nothing is sent by the api
                "CONCERTINA_MAIL_FROM": "concertina@example.com",
                "CONCERTINA_PROXY_ADDRESSES": PROXY,
                "CONCERTINA_PROXY_USER_HEADER": "X-Auth-Request-User",
                "CONCERTINA_PROXY_GROUPS_HEADER": "X-Auth-Request-Groups",
                "CONCERTINA_PROXY_GROUPS": "ml=vision:member",
            },
            is_ready=self._answers,
            ready_seconds=240,  # however busy the machine is
            stop_seconds=5,
        )
        self._process: ChildProcess | None = None

    def start(self) -> None:
        self._process = ChildProcess(self._spec)
        self._process.wait_until_ready()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Ends as by a power cut, connections and all, and comes back."""
        assert self._process is not None
        self._process.kill_group()
        self._process.stop()
        try:
            yield
        finally:
            self.start()

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v1/health", timeout=2).status_code < 600
        except httpx.TransportError:
            return False


def _environment() -> dict[str, str]:
    """The tests' own environment, with the database that the tests write to."""
    database = connection.settings_dict
    user = quote(str(database["USER"]))
    password = f":{quote(str(database['PASSWORD']))}" if database["PASSWORD"] else ""
    place = {key: str(database[key.upper()]) for key in ("host", "port") if database[key.upper()]}
    source_roots = (".", "platform", "worker_image", "client")
    return {
        "DATABASE_URL": f"postgresql://{user}{password}@/{database['NAME']}?{urlencode(place)}",
        "REDIS_URL": settings.CONCERTINA.redis_url,
        "CONCERTINA_SECRET_KEY": settings.SECRET_KEY,
        "CONCERTINA_STATE": str(settings.CONCERTINA.state_dir),
        "CONCERTINA_TEAM_USERS": "off",  # so that there is something to tell who logs in
        "CONCERTINA_PROCESSOR_SHARE": "0",  # all tests come from one address, as strangers at first
        "CONCERTINA_UNKNOWN_RATE": "0",
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in source_roots),
    }
