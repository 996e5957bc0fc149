"""How many statements does a quiet tick make? As many for 18 jobs more as for 2."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from .conftest import Coordinator, World

pytestmark = pytest.mark.django_db(transaction=True)


def statements(world: World, *, jobs: int) -> list[str]:
    """Of a tick while so many jobs more train."""
    new = [world.job(f"one-of-{jobs}-{number}") for number in range(jobs)]
    for job in new:
        world.wish(job, 1)
    world.tick()
    for job in new:
        Coordinator(job.id).train()
    world.tick(2)
    with CaptureQueriesContext(connection) as captured:
        world.tick()
    return [one["sql"].split(" FROM ")[-1].split(" WHERE ")[0][:80] for one in captured]


def test_a_tick_asks_about_all_jobs_that_train_at_once(make_world: Callable[..., World]) -> None:
    world = make_world(nodes=(20,))
    assert statements(world, jobs=2) == statements(world, jobs=18)
