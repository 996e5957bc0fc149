"""How many statements does the whole service need for thirty running jobs? Counts, and no times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from local_stack import checkout

JOBS: Final = 30
OF_A_TICK: Final = 70  # whatever the number of jobs: those that are at rest ask for none
OF_A_REPORT: Final = 6  # it takes 3; some are of requests that are asked besides
OF_A_READ: Final = 30  # fewer than there are jobs
CONNECTIONS: Final = 40
THREADS_OF_THE_API: Final = 40

pytestmark = pytest.mark.thorough  # of one tick, report or read each: counted where they are tested


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """The small version of the benchmark."""
    command = ("-P", "-m", "benchmarks.service_load", "--quick", "--json", "--jobs", str(JOBS))
    ran = subprocess.run(
        (sys.executable, *command),
        cwd=checkout.ROOT,
        env=_environment(checkout.ROOT),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def _environment(root: Path) -> dict[str, str]:
    path = os.pathsep.join((str(root), str(root / "platform")))
    given = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return {**given, "PYTHONPATH": path}


def test_all_jobs_run_and_report(measured: dict[str, Any]) -> None:
    assert measured["running"] == JOBS
    assert measured["reports_per_second"] > 0
    assert measured["ticks"] >= 3


def test_a_tick_does_not_ask_for_each_job(measured: dict[str, Any]) -> None:
    assert measured["tick_statements"] < OF_A_TICK


def test_a_report_takes_a_few_statements(measured: dict[str, Any]) -> None:
    assert measured["report_statements"] < OF_A_REPORT


def test_a_read_does_not_ask_for_each_job(measured: dict[str, Any]) -> None:
    statements = {path: read["statements"] for path, read in measured["reads"].items()}
    assert {path: count for path, count in statements.items() if count >= OF_A_READ} == {}
    assert {path for path, read in measured["reads"].items() if read["failed"]} == set()


def test_jobs_bring_neither_threads_nor_connections(measured: dict[str, Any]) -> None:
    assert sum(measured["connections"].values()) < CONNECTIONS
    assert measured["threads"]["api"] < THREADS_OF_THE_API
