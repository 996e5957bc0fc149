"""A script that knows nothing of us, and whose workers know nothing of each other."""

from __future__ import annotations

from dataclasses import replace

from autoscaler.control_loop.observe.jobs.names import coordinator_id
from autoscaler.planning.planner import plan
from concertina_worker.protocol import Env
from jobs.models import Assignment, Event, Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers


def planned(world: World) -> None:
    assert replace(world.loop(), planner=plan).run_once()


def unregistered(world: World, *, mode: str = "auto") -> tuple[Job, Coordinator]:
    """Started by the real planner, and running since its time to register was over."""
    job = world.job(elastic={"mode": mode, "max_workers": 4})
    planned(world)
    coordinator = Coordinator(job.id)
    world.clock.advance(61)
    coordinator.sync(is_registered=False)
    planned(world)
    assert (fresh(job).mode, fresh(job).state) == ("restart", "running")
    return job, coordinator


def sizes(job: Job) -> list[int]:
    rows = Assignment.objects.filter(job=job).order_by("revision")
    return [len(workers) for workers in rows.values_list("worker_ids", flat=True)]


def test_a_plain_script_is_never_grown_on_a_guess(world: World) -> None:
    job, _ = unregistered(world)
    for _ in range(3):
        world.clock.advance(3600)
        planned(world)
    assert sizes(job) == [1]
    assert len(live_workers(job)) == 1


def test_it_is_told_why_on_the_job_and_in_its_events(world: World) -> None:
    job, _ = unregistered(world)
    world.clock.advance(5)
    planned(world)
    assert "neither registers nor forms a process group" in fresh(job).message
    assert fresh(job).explanation["message"] == fresh(job).message
    detected = Event.objects.get(job=job, kind="mode_detected")
    assert "submit it with `mode: restart`" in detected.message


def test_workers_that_form_a_group_share_the_work_so_the_job_may_grow(world: World) -> None:
    job, coordinator = unregistered(world)
    coordinator.sync(is_registered=False, process_group=True)
    coordinator.sync(is_registered=False, process_group=True)
    world.clock.advance(3600)
    planned(world)
    assert sizes(job)[-1] > 1
    told = Event.objects.filter(job=job, kind="mode_detected").order_by("id")
    assert ["form a process group" in event.message for event in told].count(True) == 1


def test_a_fixed_job_without_the_library_counts_as_plain_too(world: World) -> None:
    job, _ = unregistered(world, mode="fixed")
    world.clock.advance(3600)
    planned(world)
    assert sizes(job) == [1]


def test_its_coordinator_is_told_where_its_workers_would_meet(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    seen = world.host.launch_of(live_workers(job)[0]).env
    told = world.host.launch_of(coordinator_id(job.id, term=0)).env
    assert told[Env.RENDEZVOUS] == f"{seen['MASTER_ADDR']}:{seen['MASTER_PORT']}"
