"""How many statements does a tick make? As many however many jobs train, start, change or end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from cluster.models import Pool
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.control_loop.observe.for_planner.cluster_view import ended_jobs
from autoscaler.control_loop.observe.jobs.claims import reclaim_seconds
from concertina_worker.protocol import MemberPhase
from jobs.models import Generation, Job
from tests.control_loop.coordinator import Coordinator, metric
from tests.control_loop.world import World, live_workers

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


@dataclass
class Crowd:
    """Many jobs with one worker each, and what happens to all of them at once."""

    world: World
    coordinators: dict[str, Coordinator] = field(default_factory=dict)  # of jobs that train

    def submit(self, count: int) -> list[Job]:
        """They start in the next tick."""
        new = [self.world.job(f"one-{Job.objects.count()}") for _ in range(count)]
        for job in new:
            self.world.wish(job, 1)
        return new

    def train(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.coordinators[job.id] = Coordinator(job.id)
            self.coordinators[job.id].train()

    def nothing(self) -> None:
        """No job is heard of."""

    def report(self) -> None:
        for coordinator in self.coordinators.values():
            number = Generation.objects.filter(job=coordinator.job_id).count()
            workers = dict.fromkeys(live_workers_of(coordinator), MemberPhase.TRAINING)
            coordinator.sync(workers, metrics=[metric(number, 100)])

    def churn(self) -> None:
        """A third ends, a third grows, and as many come as end."""
        ids = list(self.coordinators)
        third = len(ids) // 3
        for job_id in ids[:third]:
            for worker in live_workers_of(self.coordinators.pop(job_id)):
                self.world.host.exit(worker, 0)
            self.world.host.exit(f"{job_id}-coordinator", 0)
        for job_id in ids[third : 2 * third]:
            self.world.wish(Job.objects.get(pk=job_id), 2)
        self.submit(third)

    def fail(self) -> None:
        """Half of them fail, and are to start again."""
        for job_id in list(self.coordinators)[::2]:
            for worker in live_workers_of(self.coordinators.pop(job_id)):
                self.world.host.exit(worker, 1)


def live_workers_of(coordinator: Coordinator) -> list[str]:
    return live_workers(Job.objects.get(pk=coordinator.job_id))


def asked(crowd: Crowd, happens: Callable[[Crowd], None]) -> Counter[str]:
    """The statements of the tick after that, by what they begin with."""
    happens(crowd)
    with CaptureQueriesContext(connection) as captured:
        crowd.world.tick()
    return Counter(one["sql"].split(" WHERE ")[0][:60] for one in captured)


def grown(crowd: Crowd, jobs: int) -> Crowd:
    """It has so many jobs that train, and at rest."""
    crowd.world.tick()
    crowd.train(list(Job.objects.filter(state__in=["starting", "rescaling"])))
    new = crowd.submit(jobs - len(crowd.coordinators))
    crowd.world.tick(2)
    crowd.train(new)
    crowd.world.tick(2)
    return crowd


def test_a_tick_over_sixty_jobs_takes_as_many_statements_as_one_over_thirty(
    make_world: Callable[..., World],
) -> None:
    """At rest, and when all have reported."""
    crowd = Crowd(make_world(nodes=(120,)))
    thirty, sixty = (
        [asked(grown(crowd, jobs), Crowd.nothing), asked(crowd, Crowd.report)] for jobs in (30, 60)
    )
    assert max(one.total() for one in thirty) <= 60
    assert thirty == sixty


@pytest.mark.parametrize("happens", [Crowd.churn, Crowd.fail])
def test_a_tick_in_which_many_jobs_change_takes_as_many_statements_as_with_few(
    make_world: Callable[..., World], happens: Callable[[Crowd], None]
) -> None:
    """However many of them end, fail, grow or start in it; each failure is asked for its words."""
    crowd = Crowd(make_world(nodes=(60,)))
    asked(grown(crowd, 3), Crowd.churn)  # ticks look at what happened lately, if anything did
    few, many = (asked(grown(crowd, jobs), happens) for jobs in (6, 18))
    for counts in (few, many):
        counts.pop('SELECT "jobs_worker"."last_lines" AS "last_lines" FROM "jobs', None)
    assert few.total() <= 140
    assert few == many


def test_jobs_whose_workers_take_long_to_come_ask_once_for_all_whether_owners_wait(
    make_world: Callable[..., World],
) -> None:
    world, patient = make_world(nodes=(60,)), {"registration_timeout": "1h"}
    jobs = [world.job(f"slow-{number}", elastic=patient) for number in range(3)]
    coordinators = [world.running(job, 1) for job in jobs]
    for job in jobs:
        world.wish(job, 2)
    world.tick()
    world.clock.advance(reclaim_seconds(Pool.objects.get()))
    for coordinator in coordinators:
        coordinator.sync()
    with CaptureQueriesContext(connection) as captured:
        world.tick()
    counts = [one["sql"] for one in captured if one["sql"].startswith("SELECT COUNT(*)")]
    assert len([sql for sql in counts if '"jobs_gpuclaim"' in sql]) == 1


def test_what_a_tick_asks_of_ended_jobs_does_not_read_all_that_ever_ended(world: World) -> None:
    job = world.job()
    yesterday = world.clock.now - timedelta(days=1)
    ended = {"state": "completed", "state_since": yesterday, "finished_at": yesterday}
    old = [copy(job) for _ in range(500)]
    for number, one in enumerate(old):
        one.id, one.name = f"old{number}", f"old-{number}"
        vars(one).update(ended)
    Job.objects.bulk_create(old)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs_job")
    lately = ended_jobs(world.clock.now - timedelta(minutes=1))
    assert "state_since" in lately.explain()
    assert "Seq Scan on jobs_job" not in lately.explain()


@pytest.mark.parametrize("signal", [-9, 1])
def test_the_ends_of_all_workers_of_a_job_take_as_many_statements_as_that_of_one(
    make_world: Callable[..., World], signal: int
) -> None:
    world = make_world(nodes=(20,))

    def loss(workers: int) -> list[str]:
        """All statements but the look at the lease that comes before each order to the host."""
        job = world.job(f"of-{workers}", elastic={"max_workers": 8})
        world.running(job, workers)
        for worker in live_workers(job):
            world.host.exit(worker, signal)
        with CaptureQueriesContext(connection) as captured:
            world.tick()
        assert live_workers(job) == []
        world.wish(job, 0)
        world.tick(2)
        counted = (one["sql"] for one in captured if "control_loop_lease" not in one["sql"])
        return [sql.split(" ")[0] for sql in counted]

    assert loss(1) == loss(7)
