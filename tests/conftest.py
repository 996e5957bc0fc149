"""On which servers do the tests run? Those the environment names, else embedded ones of this run.

Django's settings are loaded while this file is imported, once the environment is complete. That
is why pyproject.toml names no settings module for pytest-django, which would load it earlier.
"""

from __future__ import annotations

import functools
import gc
import itertools
import logging
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import django
import hypothesis
import pytest
import xdist
from django.conf import settings
from local_stack.processes import embedded_postgres, embedded_valkey
from local_stack.processes.child_process import ChildProcess, ProcessSpec

from tests import campaigns, database_shelf, image_shelf, own_network
from tests.side_by_side import Files, longest_first

# Their tests know no servers and start at once.
PURE_FOLDERS = {"planning", "reproduction", "simulation", "worker"}
# What tests leave to the garbage collector is little: at the usual 700 it takes a twentieth of all.
COLLECTIONS = (20_000, 10, 10)
FOLDER = Path(tempfile.mkdtemp(prefix="concertina-tests-"))
DEFAULTS = {
    "DJANGO_SETTINGS_MODULE": "control_plane.settings",
    "DATABASE_URL": embedded_postgres.url(FOLDER, "postgres"),
    "REDIS_URL": embedded_valkey.url(FOLDER),
    "CONCERTINA_SECRET_KEY": "for-tests-only-" + "x" * 40,
    "CONCERTINA_STATE": str(FOLDER / "state"),
    "CONCERTINA_HOST_ID": FOLDER.name,
    "OMP_NUM_THREADS": "1",  # several training processes share few cores
}
OURS = {name: value for name, value in DEFAULTS.items() if name not in os.environ}

if "PYTEST_XDIST_WORKER" in os.environ:
    own_network.enter_if_possible()
os.environ.update(OURS)
os.environ.setdefault(image_shelf.VARIABLE, str(FOLDER / "images"))  # for processes side by side
django.setup()  # so that the folders' own conftest files may import models
# Each client of a test has middleware of its own, which else lists every static file first.
settings.WHITENOISE_AUTOREFRESH = True

# A shell that runs us in the background has Ctrl-C ignored, which programs under test inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ("tests.docker_daemon", "tests.ray_cluster")

_servers: list[ChildProcess] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-minutes",
        type=float,
        default=0.0,
        help="For how long each fuzzer of tests/fuzz tries new examples; 0: only the suite's few.",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Go through campaigns whole, and run what the suite leaves to such a run.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load what test modules see when they are imported."""
    if config.getoption("--thorough"):
        campaigns.go_through_all()
    # The same examples on every run; `--hypothesis-seed=N` looks for others.
    hypothesis.settings.register_profile(
        "suite",
        max_examples=campaigns.number_of_examples(),
        derandomize=config.getoption("--hypothesis-seed") is None,
        deadline=None,  # time judges none of them
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is made meanwhile stays to the end: nobody need look for garbage in it, ever."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*COLLECTIONS)
        gc.enable()


@pytest.hookimpl(trylast=True)  # pytest-randomly has shuffled them
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """In a run of several processes, those that take longest come first."""
    left_out = [] if campaigns.are_whole() else list(filter(campaigns.is_thorough, items))
    if left_out:
        items[:] = itertools.filterfalse(campaigns.is_thorough, items)
        session.config.hook.pytest_deselected(items=left_out)
    if xdist.is_xdist_worker(session):
        items[:] = longest_first(items)


def pytest_xdist_setupnodes() -> None:
    """Each of several processes has servers of its own, so it inherits none of ours."""
    for name in OURS:
        del os.environ[name]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files:
    config.option.loadscopereorder = False  # not the files with the most tests first
    return Files(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the servers this run lacks, if one of its tests could need them."""
    tests_dir = Path(__file__).parent
    folders = {item.path.relative_to(tests_dir).parts[0] for item in session.items}
    if session.config.option.collectonly or folders <= PURE_FOLDERS:
        return
    from tests import emptying  # noqa: PLC0415 - it loads much of Django that pure tests need not

    emptying.install()
    for spec in _missing_servers():
        _servers.append(ChildProcess(spec))
        _servers[-1].wait_until_ready()


def _missing_servers() -> list[ProcessSpec]:
    specs = []
    if "DATABASE_URL" in OURS:
        database_shelf.take(FOLDER / "postgres-data")
        specs.append(_spec(embedded_postgres, "postgres-data"))
    if "REDIS_URL" in OURS:
        specs.append(_spec(embedded_valkey, "valkey-data"))
    return specs


def _spec(server: Any, data: str) -> ProcessSpec:
    spec: ProcessSpec = server.spec(
        data_dir=FOLDER / data, runtime_dir=FOLDER, log=FOLDER / f"{data}.log", is_durable=False
    )
    return spec


def pytest_unconfigure() -> None:
    """Leave nothing behind. Threads that tests began may live on; nobody hears what they log."""
    logging.disable()
    while _servers:
        _servers.pop().stop()
    shutil.rmtree(FOLDER, ignore_errors=True)


def _on_this_machine(connect: Callable[[socket.socket, Any], Any]) -> Any:
    """The same for addresses of this machine: a test that talks to another one fails."""

    @functools.wraps(connect)
    def guarded(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple):  # no unix socket
            host = str(address[0])
            if host != "localhost" and not ip_address(host.partition("%")[0]).is_loopback:
                raise PermissionError(f"a test tried to reach {host}: the network is off in tests")
        return connect(self, address)

    return guarded


# An audit hook would see more, but it is asked at each import, each opened file and each frame.
socket.socket.connect = _on_this_machine(socket.socket.connect)  # type: ignore[method-assign]
socket.socket.connect_ex = _on_this_machine(socket.socket.connect_ex)  # type: ignore[method-assign]


if "DATABASE_URL" in OURS:

    @pytest.fixture(scope="session")
    def django_db_modify_db_settings_parallel_suffix() -> None:
        """Each of several processes has a server of its own, on which the name is the same."""

    @pytest.fixture(scope="session")
    def django_db_keepdb() -> bool:
        """It came with the server, and goes with it."""
        return True


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Also for the users that teams' jobs run as; pytest's own is for the eyes of its user."""
    prefix = "concertina-open-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)
