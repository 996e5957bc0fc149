"""The whole stack, up once for all end-to-end tests: real servers, real service, real training."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from local_stack import background, secrets_file
from local_stack import checkout as checkouts
from local_stack.stack import Options

from tests.docker_daemon import DockerDaemon
from tests.end_to_end import composed as composing
from tests.end_to_end import web_server
from tests.end_to_end.composed import Composed
from tests.end_to_end.containers import IMAGE, Containers
from tests.end_to_end.running_stack import RunningStack

SCRIPTS = Path(__file__).parent / "scripts"
FEW_PROCESSES = "256"  # of one container: a fork bomb ends soon, PyTorch has enough


@pytest.fixture(scope="session")
def stack() -> Iterator[RunningStack]:
    with running(Options(slots=4, tick_seconds=1.0)) as ready:
        yield ready


@pytest.fixture(scope="session")
def docker_stack() -> Iterator[RunningStack]:
    """Jobs run in containers, of a Docker daemon that the tests may maltreat."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("a Docker daemon of one's own needs root and dockerd")
    given = {
        "CONCERTINA_OWN_DOCKER": "yes",
        "CONCERTINA_PIDS_LIMIT": FEW_PROCESSES,
        "CONCERTINA_NODE_LOST_SECONDS": "300",  # no test waits for it, and none is to be overtaken
    }
    with running(Options(slots=4, tick_seconds=1.0, host="docker"), given) as ready:
        yield ready


@pytest.fixture(scope="session")
def containers(docker_stack: RunningStack) -> Containers:
    """Those of that stack, with an image that has the tests' scripts."""
    made = Containers(stack=docker_stack)
    made.build_image(SCRIPTS)
    docker_stack.allow_image(IMAGE)
    return made


@pytest.fixture(scope="session")
def composed(docker_daemon: DockerDaemon) -> Iterator[Composed]:
    """The service as in production."""
    if shutil.which("docker-compose") is None:
        pytest.skip("needs docker-compose")
    if not docker_daemon.url.startswith("unix://"):
        pytest.skip("the socket of a Docker daemon elsewhere cannot be mounted")
    with web_server.planned() as site, composing.running(docker_daemon.url, site) as up:
        yield up


@pytest.fixture(scope="session")
def vision_token(composed: Composed) -> str:
    """Of the one team there is."""
    return composed.bootstrap()["vision"]


@contextmanager
def running(options: Options, given: Mapping[str, str] | None = None) -> Iterator[RunningStack]:
    home = Path(tempfile.mkdtemp(prefix="concertina-end-to-end-"))
    checkout = checkouts.find(home=home / "state")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
                patch.delenv(name)  # those of the other tests' servers
        for name, value in (given or {}).items():
            patch.setenv(name, value)
        record = background.start(checkout, options, ends_with_us=True, say=said.append)
    secrets = secrets_file.load_or_create(checkout)
    try:
        yield RunningStack(
            checkout=checkout,
            url=record.url,
            admin_username=secrets.admin_username,
            admin_password=secrets.admin_password,
            tokens=dict(secrets.tokens),
        )
    finally:
        background.stop(checkout, say=said.append)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def scripts() -> Path:
    return SCRIPTS
