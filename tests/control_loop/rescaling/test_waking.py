"""Is a job's coordinator woken by each decision that concerns it, and only once it can be read?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jobs.changes.wake_signal import announce_wanted, wanted_changed
from jobs.commands.control import cancel
from jobs.models import Job
from tests.control_loop.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def revisions() -> Iterator[list[tuple[str, int]]]:
    """The revision that a woken coordinator would find, each time one is."""
    found: list[tuple[str, int]] = []

    def hear(job_ids: frozenset[str], **_: Any) -> None:
        found.extend(Job.objects.filter(pk__in=job_ids).values_list("id", "revision"))

    announce_wanted("nobody")  # with whom goes what other tests took back
    wanted_changed.connect(hear)
    yield found
    wanted_changed.disconnect(hear)


def test_every_decision_wakes_the_coordinator_of_its_job_and_no_other(
    make_world: Callable[..., World], revisions: list[tuple[str, int]]
) -> None:
    world = make_world(nodes=(8,))
    job, other = world.job(), world.job("other")
    world.running(job, 2)
    world.running(other, 1)
    revisions.clear()
    world.tick()
    assert not revisions
    world.wish(job, 3)
    world.tick()
    assert set(revisions) == {(job.id, 2)}
    revisions.clear()
    cancel(job_id=job.id, actor="ada")
    assert revisions == [(job.id, 2)]
