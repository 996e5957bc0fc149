"""Prometheus and its `promtool`, as Debian has them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from local_stack.checkout import free_port
from local_stack.processes.child_process import ChildProcess, ProcessSpec


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}: apt-get install prometheus")
    return found


def promtool(*arguments: str, told: bytes = b"") -> str:
    """Run it; return what it printed if it found nothing wrong."""
    ran = subprocess.run(
        (program("promtool"), *arguments), input=told, capture_output=True, check=False
    )
    said = (ran.stdout + ran.stderr).decode()
    assert ran.returncode == 0, said
    return said


class RunningPrometheus:
    """A Prometheus that reads what a file tells it to."""

    def __init__(self, url: str) -> None:
        self._url = url

    def value(self, expression: str) -> float | None:
        """Return the newest value of an expression with one series; None: there is none yet."""
        answer = httpx.get(
            f"{self._url}/api/v1/query", params={"query": expression}, timeout=30
        ).raise_for_status()
        found: list[Any] = answer.json()["data"]["result"]
        return float(found[0]["value"][1]) if found else None

    def problem(self) -> str:
        """Return why it could not read the first of its targets; empty: it could, or will."""
        answer = httpx.get(f"{self._url}/api/v1/targets", timeout=30).raise_for_status()
        targets: list[Any] = answer.json()["data"]["activeTargets"]
        return str(targets[0]["lastError"]) if targets else ""


@contextmanager
def running_prometheus(configuration: Path, folder: Path) -> Iterator[RunningPrometheus]:
    port = free_port(9900 + os.getpid() % 97)  # other runs have others
    url = f"http://127.0.0.1:{port}"
    process = ChildProcess(
        ProcessSpec(
            name="prometheus",
            command=(
                program("prometheus"),
                f"--config.file={configuration}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ),
            log=folder / "prometheus.log",
            working_directory=folder,
            environment={"HOME": str(folder)},
            is_ready=lambda: _is_ready(url),
            ready_seconds=240,  # however busy the machine is
            stop_seconds=10,
        )
    )
    try:
        process.wait_until_ready()
        yield RunningPrometheus(url)
    finally:
        process.stop()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/-/ready", timeout=2).status_code == 200
    except httpx.TransportError:
        return False
