"""The stack whose jobs run in containers, of a Docker daemon that the tests may maltreat."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack.stack.stack import Options

from tests.end_to_end.in_containers.containers import IMAGE, Containers
from tests.end_to_end.running_stack import RunningStack, running

FEW_PROCESSES = "256"  # of one container: a fork bomb ends soon, PyTorch has enough


@pytest.fixture(scope="package")
def docker_stack() -> Iterator[RunningStack]:
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("a Docker daemon of one's own needs root and dockerd")
    given = {
        "CONCERTINA_OWN_DOCKER": "yes",
        "CONCERTINA_PIDS_LIMIT": FEW_PROCESSES,
        "CONCERTINA_NODE_LOST_SECONDS": "300",  # no test waits for it, and none is to be overtaken
    }
    with running(Options(slots=4, tick_seconds=1.0, host="docker"), given) as ready:
        yield ready


@pytest.fixture(scope="package")
def containers(docker_stack: RunningStack, scripts: Path) -> Containers:
    """Those of that stack, with an image that has the tests' scripts."""
    made = Containers(stack=docker_stack)
    made.build_image(scripts)
    docker_stack.allow_image(IMAGE)
    return made
