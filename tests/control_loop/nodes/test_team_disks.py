"""Is what all jobs of a team keep summed, and what is done where it is more than they may?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from storage.models import UnwantedResult
from tenancy.models import Team

from jobs.models import Event, Job, Leftover
from tests.control_loop.nodes.test_disk import GIB, Disks, disks, found, measured
from tests.control_loop.nodes.test_gpu_discovery import ticks_until
from tests.control_loop.world import World, fresh, kinds

__all__ = ["disks"]  # a fixture


def vision() -> Team:
    return Team.objects.get(name="vision")


def summed(size: int) -> bool:
    return vision().disk_bytes == size


def limit(gibibytes: int) -> None:
    Team.objects.filter(name="vision").update(most_disk_gib=gibibytes)


def until(world: World, condition: Callable[[], object]) -> None:
    """Ticks, between which time passes, until it is so."""
    ticks_until(world, lambda: world.clock.advance(11) or condition())


def look(world: World, disks: Disks, sizes: dict[str, int]) -> None:
    """Let each of these jobs take so many GiB, and be looked into."""
    disks.found |= {job: found(size * GIB) for job, size in sizes.items()}
    world.clock.advance(11)
    ticks_until(
        world,
        lambda: all(
            Job.objects.get(pk=job).disk_bytes == size * GIB for job, size in sizes.items()
        ),
    )
    world.tick()


def ended(world: World, job: Job) -> None:
    for process in list(world.host.running()):
        if process.startswith(job.id):
            world.host.exit(process, 0)
    until(world, lambda: fresh(job).finished_at is not None)


def test_who_takes_the_team_beyond_its_limit_is_ended_and_the_others_train_on(
    world: World, disks: Disks
) -> None:
    greedy, modest = world.job("greedy"), world.job("modest")
    limit(10)
    world.running(greedy, 1)
    world.running(modest, 1)
    look(world, disks, {greedy.id: 3, modest.id: 4})
    assert summed(7 * GIB)
    look(world, disks, {greedy.id: 7, modest.id: 4})
    until(world, lambda: fresh(greedy).state == "stopping")
    stopped = fresh(greedy)
    assert stopped.reason == "team_disk_full"
    assert stopped.message.startswith(
        "Jobs of team vision keep 11.0 GiB on disk, more than the 10.0 GiB that they may."
        " This job wrote on, and its files take 7.0 GiB. Delete what nobody needs"
    )
    look(world, disks, {modest.id: 4})
    assert fresh(modest).state == "running"


def test_its_people_hear_of_it_before(world: World, disks: Disks) -> None:
    job = world.job()
    limit(10)
    world.running(job, 1)
    look(world, disks, {job.id: 8})
    assert "disk_filling" not in kinds(job)
    look(world, disks, {job.id: 9})
    world.tick(2)
    assert kinds(job).count("disk_filling") == 1
    told = Event.objects.get(job=job, kind="disk_filling")
    assert told.reason == "team_disk_full"
    assert told.message.startswith("Jobs of team vision keep 9.0 GiB on disk, of the 10.0 GiB")


def test_what_ended_jobs_keep_counts_until_it_is_deleted(world: World, disks: Disks) -> None:
    first, second = world.job("first"), world.job("second")
    limit(10)
    world.running(first, 1)
    look(world, disks, {first.id: 6})
    disks.found[first.id] = found(9 * GIB)  # its last checkpoint, of which nobody knows yet
    ended(world, first)
    until(world, lambda: summed(9 * GIB))
    assert fresh(first).kept_bytes == 9 * GIB
    asked = disks.asked.count(first.id)
    for _ in range(3):
        world.clock.advance(60)
        world.tick()
    assert disks.asked.count(first.id) == asked, "it changes no more, and is not looked into again"
    limit(8)
    world.wish(second, 1)
    world.tick(2)
    waiting = fresh(second)
    assert (waiting.state, waiting.reason) == ("queued", "team_disk_full")
    assert "`concertina storage --team vision`" in waiting.message
    assert kinds(second).count("preparing") == 1
    disks.found[first.id] = found(2 * GIB)
    UnwantedResult.objects.create(
        job_id=first.id, place="outputs", path="plots", due_at=world.clock()
    )
    until(world, lambda: summed(2 * GIB))
    until(world, lambda: fresh(second).state == "starting")


def test_a_job_whose_files_are_gone_keeps_nothing(world: World, disks: Disks) -> None:
    job = world.job()
    world.running(job, 1)
    look(world, disks, {job.id: 6})
    ended(world, job)
    until(world, lambda: summed(6 * GIB))
    del disks.found[job.id]
    Leftover.objects.create(job_id=job.id, part="files", due_at=world.clock())
    until(world, lambda: summed(0))
    assert fresh(job).kept_bytes == 0


def test_a_folder_that_nobody_can_look_into_counts_as_it_was_known(
    world: World, disks: Disks
) -> None:
    job = world.job()
    world.running(job, 1)
    look(world, disks, {job.id: 6})
    disks.broken.add(job.id)
    ended(world, job)
    until(world, lambda: fresh(job).kept_bytes == 6 * GIB)
    assert summed(6 * GIB)


def test_a_restart_with_a_checkpoint_of_before_writes_nothing_new(
    world: World, disks: Disks
) -> None:
    job, other = world.job("digits"), world.job("other")
    limit(10)
    coordinator = world.running(job, 1)
    look(world, disks, {job.id: 6})
    world.host.exit(f"{job.id}-1-1", 1)
    coordinator.sync()
    until(world, lambda: fresh(job).attempt == 2 and fresh(job).state == "starting")
    assert (fresh(job).disk_bytes, fresh(job).disk_bytes_within) == (None, 6 * GIB)
    world.running(other, 1)
    look(world, disks, {other.id: 11})
    until(world, lambda: measured(job, 6 * GIB))
    world.tick()
    assert fresh(job).reason != "team_disk_full"


def test_a_raised_limit_counts_at_once(world: World, disks: Disks) -> None:
    job = world.job()
    limit(1)
    Team.objects.update(disk_bytes=2 * GIB)
    world.wish(job, 1)
    world.loop().run_once()
    assert fresh(job).reason == "team_disk_full"
    limit(3)
    world.tick()
    assert fresh(job).state == "starting"


@pytest.mark.django_db(transaction=True)
def test_sums_take_as_many_statements_however_many_jobs_there_are(
    world: World, disks: Disks
) -> None:
    def statements() -> int:
        world.clock.advance(11)
        with CaptureQueriesContext(connection) as captured:
            world.tick()
        return sum("kept_bytes" in one["sql"] or "tenancy_team" in one["sql"] for one in captured)

    def over(count: int) -> None:
        for number in range(count):
            world.job(f"over-{Job.objects.count()}-{number}")
        Job.objects.update(state="completed", finished_at=world.clock(), kept_bytes=GIB)

    over(2)
    statements()
    few = statements()
    over(10)
    statements()
    assert statements() == few
    assert summed(12 * GIB)
