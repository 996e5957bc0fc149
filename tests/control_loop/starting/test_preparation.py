"""Images that take long or cannot be fetched, nodes that refuse, kernels that kill."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.worker_host import Failing
from tenancy.models import ImageRule

from jobs.commands.control import cancel
from jobs.models import Assignment, Event, Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers

PLATFORM = "localhost/concertina-worker:test"
IMAGE = "docker.io/vision/train:7"
NOTE = f"fetching image {IMAGE}: 120 of 480 MB"
REFUSED = f"image {IMAGE}: manifest unknown"


@pytest.fixture
def world(world: World) -> World:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image=PLATFORM
    )
    ImageRule.objects.create(pattern="docker.io/vision/*")
    return world


def fetching(world: World, *, workers: int = 2) -> Job:
    """A job whose workers wait for their image."""
    world.host.fetching[IMAGE] = NOTE
    job = world.job(image=IMAGE)
    world.wish(job, workers)
    world.tick(2)
    return job


@dataclass(frozen=True, slots=True, kw_only=True)
class Growing:
    """A job that trains with its first worker and waits for the image of another."""

    job: Job
    coordinator: Coordinator
    first: str
    joiner: str


@pytest.fixture
def growing(world: World) -> Growing:
    job = world.job(image=IMAGE)
    coordinator = world.running(job, 1)
    world.host.fetching[IMAGE] = NOTE
    world.wish(job, 2)
    world.tick()
    first, joiner = live_workers(job)
    return Growing(job=job, coordinator=coordinator, first=first, joiner=joiner)


def refuse(world: World, worker: str, failing: Failing, note: str) -> None:
    world.host.exit(worker, None, failing=failing, note=note)


def newest_assignment(job: Job) -> Assignment:
    newest = Assignment.objects.filter(job=job).last()
    assert newest is not None
    return newest


def events_of(job: Job, kind: str) -> list[Event]:
    return list(Event.objects.filter(job=job, kind=kind).order_by("id"))


def test_a_job_whose_image_is_fetched_is_starting_and_says_how_far_it_is(world: World) -> None:
    job = fetching(world)
    assert fresh(job).state == "starting"
    assert fresh(job).message == f"{job.id}-1-1 and {job.id}-1-2: {NOTE}."
    world.host.fetching[IMAGE] = NOTE.replace("120", "360")
    world.tick()
    assert "360 of 480 MB" in fresh(job).message
    (event,) = events_of(job, "preparing")
    assert event.message.endswith(f"{NOTE}.")


def test_its_message_is_the_planners_again_once_it_runs(world: World) -> None:
    job = fetching(world)
    world.host.fetched(IMAGE)
    world.tick()
    assert fresh(job).message == newest_assignment(job).message
    Coordinator(job.id).train()
    assert fresh(job).state == "running"


def test_others_train_on_while_a_joiners_image_is_fetched(world: World, growing: Growing) -> None:
    job = growing.job
    world.clock.advance(600)
    growing.coordinator.sync()
    world.tick()
    assert fresh(job).state == "rescaling"
    assert NOTE in fresh(job).message
    assert live_workers(job) == [growing.first, growing.joiner]
    world.host.fetched(IMAGE)
    growing.coordinator.train()
    assert (fresh(job).state, fresh(job).generation) == ("running", 2)


def test_a_job_can_be_cancelled_while_its_image_is_fetched(world: World) -> None:
    job = fetching(world)
    cancel(job_id=job.id, actor="ada")
    world.tick(2)
    world.clock.advance(10)
    world.tick(2)
    assert fresh(job).state == "cancelled"
    assert world.host.list().processes == ()


def test_an_image_that_is_not_there_fails_the_job_in_the_registrys_words(world: World) -> None:
    job = fetching(world)
    for worker in live_workers(job):
        refuse(world, worker, Failing.IMAGE_UNAVAILABLE, REFUSED)
    world.tick()
    world.clock.advance(10)
    world.tick(3)
    failed = fresh(job)
    assert (failed.state, failed.reason) == ("failed", "image_unavailable")
    assert failed.message == (
        f"Its image cannot be fetched: {REFUSED}. Correct `image`, push it, or ask for your team"
        " to be let into its registry."
    )
    assert (failed.failures, failed.losses, failed.attempt) == (0, 0, 1)
    (event,) = events_of(job, "worker_not_started")
    assert (event.reason, event.message) == (
        "image_unavailable",
        f"{job.id}-1-1 could not be started: {REFUSED}",
    )


def test_it_does_not_grow_for_ten_minutes_after_that(world: World, growing: Growing) -> None:
    job = growing.job
    assert world.planner.job(job).max_workers == 4
    refuse(world, growing.joiner, Failing.IMAGE_UNAVAILABLE, REFUSED)
    world.planner.wishes.clear()
    world.tick()
    growing.coordinator.train()
    world.tick()
    assert world.planner.job(job).max_workers == 1
    world.clock.advance(601)
    world.tick()
    assert world.planner.job(job).max_workers == 4


SENTENCE = (
    "was killed because it needed more than its 4GiB of memory."
    " Raise `resources.memory` or lower the batch."
)


def killed_for_memory(world: World, worker: str) -> None:
    world.host.exit(worker, -9, failing=Failing.OUT_OF_MEMORY)


def test_a_worker_that_needs_too_much_memory_is_a_loss_that_says_so(world: World) -> None:
    job = world.job(resources={"memory": "4GiB"})
    coordinator = world.running(job, 3)
    killed = live_workers(job)[1]
    killed_for_memory(world, killed)
    world.planner.wishes.clear()
    world.tick()
    (event,) = events_of(job, "worker_lost")
    assert (event.reason, event.message) == ("out_of_memory", f"{killed} {SENTENCE}")
    assert (fresh(job).losses, fresh(job).failures, fresh(job).state) == (1, 0, "running")
    coordinator.sync()
    world.tick()
    assert world.planner.job(job).max_workers == 2, "no other one takes its place at once"
    assert world.planner.seen[-1].jobs[0].can_rescale
