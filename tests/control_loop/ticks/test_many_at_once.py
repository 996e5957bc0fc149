"""Does what is written for many jobs at once reach each of them, whatever is wrong with one?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from cluster.models import Node
from django.db import connection

from autoscaler.control_loop.carry_out import held_together
from jobs.models import Assignment, Event, Job, Worker
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, claims, fresh, kinds, live_workers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def jobs(make_world: Callable[..., World]) -> tuple[World, list[Job]]:
    """Three that are to start in the next tick."""
    world = make_world(nodes=(8,))
    made = [world.job(f"job-{number}") for number in range(3)]
    for job in made:
        world.wish(job, 2)
    return world, made


def test_a_job_that_the_database_refuses_keeps_none_of_the_others_back(
    jobs: tuple[World, list[Job]],
) -> None:
    world, (first, refused, last) = jobs
    somebody = world.job("somebody")
    taken = f"{refused.id}-1-1"  # the name of its first worker
    Worker.objects.create(
        id=taken,
        job=somebody,
        attempt=1,
        node=Node.objects.get(),
        phase="gone",
        gone_at=world.clock(),
    )
    world.tick()
    assert [fresh(job).state for job in (first, refused, last)] == [
        "starting",
        "queued",
        "starting",
    ]
    assert "control_loop_error" in kinds(refused)
    assert len(claims()) == 4
    Worker.objects.filter(pk=taken).delete()
    world.tick()
    assert fresh(refused).state == "starting"


def test_no_more_rows_are_held_at_once_than_others_can_wait_for(
    jobs: tuple[World, list[Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, made = jobs
    monkeypatch.setattr(held_together, "MOST_TOGETHER", 2)
    held: list[int] = []
    written: dict[str, list[int]] = {"explanation": [], "gpu_seconds": []}

    def note(execute: Callable[..., Any], sql: str, params: Any, *how: Any) -> Any:
        if "FOR NO KEY UPDATE" in sql and sql.startswith('SELECT "jobs_job"'):
            held.append(sum(job.id in params for job in made))
        for column, sizes in written.items():
            if f"jobs_job SET {column} =" in " ".join(sql.split()):
                sizes.append(len(params.get("id") or params["jobs"]))
        return execute(sql, params, *how)

    with connection.execute_wrapper(note):
        world.tick()
    assert [fresh(job).state for job in made] == ["starting"] * 3
    assert held[:2] == [2, 1]
    assert max(held) == 2
    assert written["explanation"][:2] == [2, 1]
    with connection.execute_wrapper(note):
        world.tick()
    assert max(written["gpu_seconds"]) == 2
    assert sum(written["gpu_seconds"]) >= len(made)


@dataclass
class TimesOut:
    """The first statement that begins so takes longer than PostgreSQL lets it."""

    beginning: str
    times: int = 1

    def __call__(self, execute: Callable[..., Any], sql: str, *how: Any) -> Any:
        if self.times and sql.startswith(self.beginning):
            self.times -= 1
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = '1ms'")
                cursor.execute("SELECT pg_sleep(10)")
        return execute(sql, *how)

    def at_work(self) -> AbstractContextManager[None]:
        return connection.execute_wrapper(self)


@pytest.mark.parametrize(
    "beginning",
    ['UPDATE "jobs_job"', 'INSERT INTO "jobs_worker"', 'INSERT INTO "jobs_event"'],
)
def test_a_statement_that_times_out_in_the_middle_of_many_writes_loses_and_doubles_nothing(
    jobs: tuple[World, list[Job]], beginning: str
) -> None:
    world, starting = jobs
    slow = TimesOut(beginning)
    with slow.at_work():
        world.tick()
    assert not slow.times
    assert [fresh(job).state for job in starting] == ["starting"] * 3
    assert [len(live_workers(job)) for job in starting] == [2] * 3
    assert Assignment.objects.count() == 3
    assert Event.objects.filter(new_state="starting").count() == 3
    assert world.running_processes() == {job.name: 2 for job in starting}


def test_workers_of_several_jobs_end_once_though_a_statement_times_out(
    jobs: tuple[World, list[Job]],
) -> None:
    world, training = jobs
    world.tick()
    for job in training:
        Coordinator(job.id).train()
        for worker in live_workers(job):
            world.host.exit(worker, 1)
    with TimesOut('UPDATE "jobs_worker"').at_work():
        world.tick()
    assert [fresh(job).failures for job in training] == [1] * 3
    assert claims() == set()


def test_a_clock_that_steps_back_costs_nobody_anything(jobs: tuple[World, list[Job]]) -> None:
    world, training = jobs
    world.tick()
    coordinators = [Coordinator(job.id) for job in training]
    for coordinator in coordinators:
        coordinator.train()
    world.clock.advance(10)
    world.tick()
    before = [fresh(job).gpu_seconds for job in training]
    world.clock.advance(-3600)
    for coordinator in coordinators:
        coordinator.sync()
    world.tick(2)
    assert [fresh(job).state for job in training] == ["running"] * 3
    assert all(fresh(job).gpu_seconds >= 0 for job in training)
    world.clock.advance(3600)
    for coordinator in coordinators:
        coordinator.sync()
    world.tick(2)
    assert [fresh(job).state for job in training] == ["running"] * 3
    assert all(fresh(job).gpu_seconds >= was for job, was in zip(training, before, strict=True))
