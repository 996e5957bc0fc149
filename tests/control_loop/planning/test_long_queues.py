"""What does a long queue cost a tick? No statement more for each job that waits."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.control_loop.plan.turns import MOST_IN_A_TICK
from autoscaler.job_vocabulary import JobReason
from autoscaler.predictions.live_jobs import predict_live_jobs
from autoscaler.simulation.engine.prediction.prediction import Effort
from jobs.models import Job
from jobs.spec import stored_spec
from jobs.spec.stored_spec import StoredSpecCache
from tests.control_loop.ticks.test_held_rows import holding
from tests.control_loop.world import World, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def statements(world: World, *, new: int) -> int:
    """That a tick makes to which so many jobs are new."""
    for number in range(new):
        world.job(f"one-of-{new}-{number}")
    world.clock.advance(60)
    with CaptureQueriesContext(connection) as captured:
        world.tick()
    return len(captured)


def test_a_tick_makes_as_many_statements_for_a_long_queue_as_for_one_job(world: World) -> None:
    world.tick(2)
    assert statements(world, new=1) == statements(world, new=12)
    assert not Job.objects.filter(message="").exists()


def test_a_tick_tells_some_of_a_long_queue_why_it_waits_and_the_next_ones_tell_the_others(
    world: World,
) -> None:
    for number in range(MOST_IN_A_TICK + 5):
        world.job(f"job-{number}")
    untold = Job.objects.filter(explanation={})
    world.tick()
    assert untold.count() == 5
    world.tick()
    assert not untold.exists()


def test_whoever_was_told_longest_ago_is_told_first(world: World) -> None:
    for number in range(MOST_IN_A_TICK + 5):
        world.job(f"job-{number}")
    world.tick(2)
    before = told_at()
    first = set(sorted(before, key=before.__getitem__)[:MOST_IN_A_TICK])
    world.planner.reason = JobReason.WAITING_FOR_QUOTA
    world.tick()
    assert {job_id for job_id, at in told_at().items() if at > before[job_id]} == first
    world.tick()
    assert {job.explanation["reason"] for job in Job.objects.all()} == {"waiting_for_quota"}


def told_at() -> dict[str, str]:
    return {job.id: job.explanation["decided_at"] for job in Job.objects.all()}


def test_a_prediction_is_kept_in_as_many_statements(world: World) -> None:
    def kept(new: int) -> int:
        for number in range(new):
            world.job(f"one-of-{new}-{number}")
        quick = Effort(planned_jobs=200, replays=1, fewest_replays=1, fewest_plans=1)
        with CaptureQueriesContext(connection) as captured:
            predict_live_jobs(world.clock(), effort=quick)
        return sum("prediction" in one["sql"] for one in captured)

    assert kept(1) == kept(12)
    assert not Job.objects.filter(prediction={}).exists()


def test_what_cannot_be_told_of_one_job_is_told_of_the_others(world: World) -> None:
    held, free = world.job("held"), world.job("free")
    for job in (held, free):
        Job.objects.filter(pk=job.pk).update(message="as before")
    with holding(held):
        world.tick()
    assert fresh(held).message == "as before"
    assert fresh(free).message != "as before"
    world.tick()
    assert fresh(held).message != "as before"


def test_a_spec_is_read_again_where_it_was_changed(world: World) -> None:
    memory, stored = StoredSpecCache(), world.job().resolved_spec
    first = memory.read("a", json.dumps(stored))
    assert memory.read("a", json.dumps(stored)) is first
    changed = {**stored, "seed": 7}
    assert memory.read("a", json.dumps(changed)) == stored_spec.read(changed)
    assert memory.read("a", json.dumps(changed)) != first


def test_as_many_specs_are_remembered_as_may_be() -> None:
    memory, text = StoredSpecCache(most_characters=5), "{}"
    first = memory.read("a", text)
    memory.read("b", text)
    assert memory.read("a", text) is first
    memory.read("c", text)
    assert (memory.read("a", text), len(memory)) == (first, 2)
    memory.read("d", "{}    ")
    assert len(memory) == 0
