"""The service as in production."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docker_daemon import DockerDaemon
from tests.end_to_end.in_production import composed as composing
from tests.end_to_end.in_production import web_server
from tests.end_to_end.in_production.composed import Composed


@pytest.fixture(scope="package")
def composed(docker_daemon: DockerDaemon) -> Iterator[Composed]:
    if shutil.which("docker-compose") is None:
        pytest.skip("needs docker-compose")
    if not docker_daemon.url.startswith("unix://"):
        pytest.skip("the socket of a Docker daemon elsewhere cannot be mounted")
    with web_server.planned() as site, composing.running(docker_daemon, site) as up:
        yield up


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A test that fails tells what every container said last."""
    report = yield
    if report.when == "call" and report.failed and (up := item.funcargs.get("composed")):
        report.sections.append(("Containers", up.last_words()))
    return report


@pytest.fixture(scope="package")
def vision_token(composed: Composed) -> str:
    """Of the one team there is."""
    return composed.bootstrap()["vision"]
