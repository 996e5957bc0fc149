"""What becomes of jobs when an older database is put in the place of a newer one?

A savepoint is the backup, rolling back to it the restore: the database forgets, and the worker host
and the state folder do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from cluster.worker_host import ProcessRole
from django.db import transaction

from autoscaler.control_loop.lease.epochs import FILE_NAME, LeaseTurn, has_lost_time, next_epoch
from autoscaler.control_loop.lease.exclusive import LEASE_NAME
from autoscaler.control_loop.models import Lease
from concertina_worker.environment import CheckpointRules, WorkerEnvironment
from jobs.models import Job
from tests.control_loop.world import World, fresh, live_workers

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MOST_TICKS = 100  # a start after a loss is put off for some


def epoch() -> int:
    return Lease.objects.get(pk=LEASE_NAME).epoch


def start_over(world: World, job: Job) -> None:
    """Its workers are killed from outside, all of them: it is queued and starts again."""
    starts = fresh(job).starts
    for worker in {*live_workers(job)} & world.host.running():
        world.host.exit(worker, -9)
    for _ in range(MOST_TICKS):
        world.clock.advance(5.0)
        world.tick()
        if fresh(job).starts > starts:
            return
    raise AssertionError(f"the job is {fresh(job).state} after {MOST_TICKS} ticks")


def rules(world: World, job: Job) -> CheckpointRules:
    """What a worker of the job that runs now is told of its checkpoints."""
    (worker,) = live_workers(job)
    launch = world.host.launch_of(worker)
    found = WorkerEnvironment.read({**launch.env, **launch.secret_env}).checkpoints
    assert found is not None
    return found


def names(world: World) -> set[str]:
    return {process.labels.process_id for process in world.host.list().processes}


@pytest.fixture
def job(world: World) -> Job:
    made = world.job()
    world.running(made, 1)
    return made


@pytest.fixture
def of_lost_time(world: World, job: Job) -> Iterator[tuple[CheckpointRules, set[str]]]:
    """Rules and names of what ran after the backup, of which the database knows nothing."""
    backup = transaction.savepoint()
    seen: set[str] = set()
    for _ in range(2):
        start_over(world, job)
        seen |= names(world)
    lost = rules(world, job)
    transaction.savepoint_rollback(backup)
    assert fresh(job).starts == 1
    return lost, seen


def test_what_is_written_after_a_restore_is_newer_than_all_of_the_lost_time(
    world: World, job: Job, of_lost_time: tuple[CheckpointRules, set[str]]
) -> None:
    lost, _ = of_lost_time
    start_over(world, job)
    now = rules(world, job)
    assert (lost.epoch, lost.start) == (0, 3)
    assert now.start == 2
    assert now.epoch == fresh(job).database_epoch == epoch() > 0


def test_no_name_of_the_lost_time_is_given_out_again(
    world: World, job: Job, of_lost_time: tuple[CheckpointRules, set[str]]
) -> None:
    _, seen = of_lost_time
    before = names(world)
    world.wish(job, 2)
    start_over(world, job)
    fresh_names = names(world) - before
    assert len(live_workers(job)) == 2
    assert fresh_names
    assert not fresh_names & seen


def test_a_coordinator_remembers_nothing_of_the_lost_time(
    world: World, job: Job, of_lost_time: tuple[CheckpointRules, set[str]]
) -> None:
    start_over(world, job)
    folders = {
        world.host.launch_of(process.labels.process_id).env["CONCERTINA_STATE_DIR"]
        for process in world.host.list().processes
        if process.labels.role is ProcessRole.COORDINATOR
    }
    assert f"{world.state_dir}/jobs/{job.id}/coordinator/epoch-{epoch()}" in folders


def test_a_second_restore_begins_a_later_epoch(world: World) -> None:
    world.tick()
    backup = transaction.savepoint()
    found = []
    for _ in range(2):
        world.tick()
        transaction.savepoint_rollback(backup)
        backup = transaction.savepoint()
        world.tick()
        found.append(epoch())
        transaction.savepoint_rollback(backup)
        backup = transaction.savepoint()
    assert 0 < found[0] < found[1]


def test_ticks_of_one_database_are_of_one_epoch(world: World) -> None:
    world.tick(3)
    assert epoch() == 0


def test_a_state_folder_that_cannot_be_written_stops_no_tick(world: World) -> None:
    (world.state_dir / FILE_NAME).mkdir()
    world.tick(2)
    assert epoch() == 0


@pytest.mark.parametrize(
    ("mine", "known", "is_lost"),
    [
        (LeaseTurn(number=1, epoch=0), None, False),  # a new installation
        (LeaseTurn(number=9, epoch=0), None, True),  # its state folder is another
        (LeaseTurn(number=9, epoch=0), LeaseTurn(number=8, epoch=0), False),
        (LeaseTurn(number=9, epoch=0), LeaseTurn(number=5, epoch=0), False),  # the disk was full
        (LeaseTurn(number=9, epoch=0), LeaseTurn(number=9, epoch=0), True),
        (LeaseTurn(number=9, epoch=0), LeaseTurn(number=90, epoch=0), True),
        (LeaseTurn(number=9, epoch=0), LeaseTurn(number=8, epoch=7), True),
    ],
)
def test_lost_time_is_known_by_turns(
    mine: LeaseTurn, known: LeaseTurn | None, *, is_lost: bool
) -> None:
    assert has_lost_time(mine, known) is is_lost


def test_an_epoch_is_later_than_any_that_is_known_whatever_the_clock_says() -> None:
    known = LeaseTurn(number=5, epoch=int(NOW.timestamp()) + 100)
    assert next_epoch(LeaseTurn(number=1, epoch=0), known, NOW) == known.epoch + 1
    assert next_epoch(LeaseTurn(number=1, epoch=0), None, NOW) == int(NOW.timestamp())
