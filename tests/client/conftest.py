"""A running api, a pool, two teams with tokens, and the command line of a member of one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.models import Node, Pool
from django.db import connection
from tenancy.access.keys import tokens
from tenancy.models import Quota, Team

from autoscaler.simulation.api import execution
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.end_to_end.waiting import until

JOB = """\
name: digits
command: [python, train.py]
elastic:
  min_workers: 1
  max_workers: 4
batch: {global_batch_size: 64}
"""


@pytest.fixture(scope="session")
def running_api(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApi]:
    api = RunningApi(tmp_path_factory.mktemp("api"))
    api.start()
    yield api
    api.stop()


@pytest.fixture
def api(running_api: RunningApi, transactional_db: None) -> RunningApi:
    """The api, over a database with one pool of 4 GPUs and the teams vision and language."""
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    for name in ("vision", "language"):
        team = Team.objects.create(name=name)
        Quota.objects.create(team=team, pool=pool, guaranteed_gpus=2)
    return running_api


@pytest.fixture
def token_of(api: RunningApi) -> dict[str, str]:
    teams = Team.objects.all()
    return {team.name: tokens.issue(team=team, name="tests")[1] for team in teams}


@pytest.fixture
def concertina(api: RunningApi, token_of: dict[str, str], tmp_path: Path) -> CommandLine:
    """The command line with the token of team vision."""
    return CommandLine(
        environment={
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "CONCERTINA_URL": api.url,
            "CONCERTINA_TOKEN": token_of["vision"],
        }
    )


@pytest.fixture
def stranger(api: RunningApi, tmp_path: Path) -> CommandLine:
    """The command line of somebody who is not logged in."""
    return CommandLine(environment={"XDG_CONFIG_HOME": str(tmp_path / "config")})


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    file = tmp_path / "job.yaml"
    file.write_text(JOB)
    return file


@pytest.fixture
def simulator() -> Iterator[None]:
    """Carries out the one simulation that somebody asks for."""

    def carry_out() -> None:
        try:
            until(execution.run_next, seconds=90, what="a simulation was asked for")
        finally:
            connection.close()

    thread = threading.Thread(target=carry_out)
    thread.start()
    yield
    thread.join()
