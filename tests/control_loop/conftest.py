"""What do the tests of the control loop begin with? A small world."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from cluster import models as cluster
from cluster.in_memory_host import InMemoryHost
from cluster.process_host.process_environments import MachineEnvironments
from django.db.models.functions import Now
from django.utils import timezone
from tenancy.models import Quota, Team

from autoscaler.control_loop.consistency import contradictions
from tests.control_loop.clocks import Clock, StandingClock
from tests.control_loop.world import World


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The one time there is, the database's too: no limit is passed because a machine is slow."""
    clock = StandingClock()
    monkeypatch.setattr(timezone, "now", clock)
    monkeypatch.setattr(Now, "as_postgresql", lambda *_, **__: ("%s::timestamptz", [clock()]))
    return clock


@pytest.fixture
def make_world(tmp_path: Path, clock: Clock) -> Callable[..., World]:
    def make(nodes: Sequence[int] = (4,), **quotas: int) -> World:
        pool = cluster.Pool.objects.create(name="default")
        for number, gpus in enumerate(nodes, start=1):
            cluster.Node.objects.create(pool=pool, name=f"n{number}", gpus=gpus)
        for name in ("vision", "language"):
            team = Team.objects.create(name=name)
            guaranteed = quotas.get(name, 2)
            Quota.objects.create(team=team, pool=pool, guaranteed_gpus=guaranteed)
        return World(
            host=InMemoryHost(clock=clock),
            clock=clock,
            state_dir=tmp_path,
            environments=MachineEnvironments(
                state_dir=tmp_path,
                service_url="http://127.0.0.1:1",
                interpreter=Path("/opt/concertina/bin/python"),
            ),
        )

    return make


@pytest.fixture
def world(make_world: Callable[..., World], db: None) -> World:
    return make_world()


@pytest.fixture(autouse=True)
def _database_stays_consistent(db: None) -> Iterator[None]:
    yield
    assert contradictions() == []


@pytest.fixture(autouse=True)
def _quiet_redis(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="autoscaler")
