"""A script that needs longer than `registration_timeout`: late, not broken."""

from __future__ import annotations

import pytest

from autoscaler.control_loop.observe.jobs.names import coordinator_id
from concertina_worker.protocol import MemberPhase
from jobs.models import Event, Generation, Job, UsagePoint, Worker
from jobs.worker_phase import WorkerPhase
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, kinds, live_workers


def taken_for_plain(world: World, *, mode: str = "auto") -> Job:
    """Nobody has registered in time; the job is taken for one that knows nothing of us."""
    job = world.job(elastic={"mode": mode})
    world.wish(job, 1)
    world.tick()
    world.clock.advance(61)
    Coordinator(job.id).sync(is_registered=False)
    world.tick(2)
    assert (fresh(job).mode, fresh(job).state) == ("restart", "running")
    return job


@pytest.mark.parametrize(("declared", "becomes"), [("auto", "hot"), ("fixed", "fixed")])
def test_registering_late_counts(world: World, declared: str, becomes: str) -> None:
    job = taken_for_plain(world, mode=declared)
    (worker,) = live_workers(job)
    coordinator = Coordinator(job.id)
    desired = coordinator.sync({worker: MemberPhase.READY})
    assert (desired["action"], desired["workers"]) == ("run", [worker])
    coordinator.train(samples=320)
    world.tick()
    late = fresh(job)
    assert (late.mode, late.state, late.samples) == (becomes, "running", 320)
    assert live_workers(job) == [worker]
    newest = Generation.objects.filter(job=job).latest("number")
    assert (newest.number, newest.worker_ids, newest.ended_at) == (2, [worker], None)
    assert (late.rescales, late.last_rescaled_at) == (0, None), "nothing was rescaled"


def test_what_is_said_of_a_late_script_is_corrected(world: World) -> None:
    job = taken_for_plain(world)
    Coordinator(job.id).sync(dict.fromkeys(live_workers(job), MemberPhase.READY))
    taken, corrected = Event.objects.filter(job=job, kind="mode_detected").order_by("id")
    assert (taken.reason, corrected.reason) == ("restart", "hot")
    assert "registered after all" in corrected.message


def test_a_worker_that_only_said_hello_stays_where_the_loop_put_it(world: World) -> None:
    job = taken_for_plain(world)
    (worker,) = live_workers(job)
    Coordinator(job.id).sync({worker: MemberPhase.CONNECTED}, is_registered=False)
    assert Worker.objects.get(pk=worker).phase == WorkerPhase.TRAINING


def test_a_late_job_ends_as_others_do(world: World) -> None:
    job = taken_for_plain(world)
    Coordinator(job.id).sync(dict.fromkeys(live_workers(job), MemberPhase.READY))
    Coordinator(job.id).train()
    world.host.exit(live_workers(job)[0], 0)
    world.tick()
    assert fresh(job).ends_as == "completed"
    world.host.exit(coordinator_id(job.id, term=0), 0)
    world.tick()
    assert fresh(job).state == "completed"
    assert kinds(job).count("mode_detected") == 2


def test_a_hot_script_that_others_take_the_processor_from_is_waited_for(world: World) -> None:
    job = world.job(elastic={"mode": "hot"})
    world.wish(job, 1)
    world.tick()
    (worker,) = live_workers(job)
    for cores in (None, 0.2, 0.1):  # the first look at a worker cannot tell
        world.clock.advance(25)
        UsagePoint.objects.create(
            job=job, width=0, at=world.clock.now, worker_id=worker, cpu_cores=cores
        )
    coordinator = Coordinator(job.id)
    coordinator.sync(is_registered=False)
    world.tick()
    assert fresh(job).state == "starting"
    world.clock.advance(330)  # it has had its 60 seconds by then
    coordinator.sync(is_registered=False)
    world.tick(2)
    assert (fresh(job).ends_as, fresh(job).reason) == ("failed", "not_registered")
