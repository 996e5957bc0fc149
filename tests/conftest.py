"""On which servers do the tests run? Those the environment names, else embedded ones of this run.

Django's settings are loaded while this file is imported, once the environment is complete. That
is why pyproject.toml names no settings module for pytest-django, which would load it earlier.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import django
import hypothesis
import pytest
from local_stack import embedded_postgres, embedded_valkey
from local_stack.child_process import ChildProcess, ProcessSpec

# Their tests know no servers and start at once.
PURE_FOLDERS = {"planning", "reproduction", "simulation", "worker"}
FOLDER = Path(tempfile.mkdtemp(prefix="concertina-tests-"))
IS_OURS = {name: name not in os.environ for name in ("DATABASE_URL", "REDIS_URL")}

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")
os.environ.setdefault("DATABASE_URL", embedded_postgres.url(FOLDER, "postgres"))
os.environ.setdefault("REDIS_URL", embedded_valkey.url(FOLDER))
os.environ.setdefault("CONCERTINA_SECRET_KEY", "for-tests-only-" + "x" * 40)
os.environ.setdefault("CONCERTINA_STATE", str(FOLDER / "state"))
os.environ.setdefault("CONCERTINA_HOST_ID", FOLDER.name)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # several training processes share few cores
django.setup()  # so that the folders' own conftest files may import models

# A shell that runs us in the background has Ctrl-C ignored, which programs under test inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run; `--hypothesis-seed=N` looks for others.
hypothesis.settings.register_profile("repeatable", derandomize=True)
hypothesis.settings.load_profile("repeatable")

_servers: list[ChildProcess] = []


def pytest_configure(config: pytest.Config) -> None:
    """A seed only counts where examples are not always the same."""
    if config.getoption("--hypothesis-seed") is not None:
        hypothesis.settings.load_profile("default")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the servers this run lacks, if one of its tests could need them."""
    tests_dir = Path(__file__).parent
    folders = {item.path.relative_to(tests_dir).parts[0] for item in session.items}
    if session.config.option.collectonly or folders <= PURE_FOLDERS:
        return
    for spec in _missing_servers():
        _servers.append(ChildProcess(spec))
        _servers[-1].wait_until_ready()


def _missing_servers() -> list[ProcessSpec]:
    specs = []
    if IS_OURS["DATABASE_URL"]:
        specs.append(_spec(embedded_postgres, "postgres-data"))
    if IS_OURS["REDIS_URL"]:
        specs.append(_spec(embedded_valkey, "valkey-data"))
    return specs


def _spec(server: Any, data: str) -> ProcessSpec:
    spec: ProcessSpec = server.spec(
        data_dir=FOLDER / data, runtime_dir=FOLDER, log=FOLDER / f"{data}.log", is_durable=False
    )
    return spec


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    while _servers:
        _servers.pop().stop()
    shutil.rmtree(FOLDER, ignore_errors=True)


def _forbid_the_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: a test that talks to another machine fails, whatever library it uses."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if not isinstance(address, tuple):  # a unix socket
        return
    host = str(address[0])
    if host != "localhost" and not ip_address(host.partition("%")[0]).is_loopback:
        raise PermissionError(f"a test tried to reach {host}: the network is off in tests")


sys.addaudithook(_forbid_the_network)
