"""A job that is lost again and again: given up when nothing ever lives between, and only then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from autoscaler.reconciling.signs_of_life import LOSSES_COUNT_FOR, losses_in_a_row
from concertina_worker.protocol import ExitCode
from jobs.models import Job

from .conftest import World, fresh, live_workers

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def lost_before(*, losses: int, ago: timedelta, lived: timedelta | None = None) -> Job:
    progress_at = None if lived is None else NOW - lived
    return Job(losses_in_a_row=losses, lost_at=NOW - ago, progress_at=progress_at)


@pytest.mark.parametrize(
    ("job", "in_a_row"),
    [
        pytest.param(Job(), 1, id="the first"),
        pytest.param(lost_before(losses=3, ago=MINUTE), 4, id="once more"),
        pytest.param(lost_before(losses=3, ago=MINUTE, lived=2 * MINUTE), 4, id="lived before"),
        pytest.param(lost_before(losses=3, ago=2 * MINUTE, lived=MINUTE), 1, id="lived between"),
        pytest.param(lost_before(losses=4, ago=LOSSES_COUNT_FOR + MINUTE), 1, id="long ago"),
    ],
)
def test_losses_count_while_nothing_lives_between(job: Job, in_a_row: int) -> None:
    assert losses_in_a_row(job, now=NOW) == in_a_row


def lose(world: World, job: Job, *, after: float, says: str = "", exit_code: int = -9) -> None:
    """The job runs for so long, says something at the end of it, perhaps, and is lost."""
    world.wish(job, 1)
    world.tick(2)
    assert fresh(job).state == "running"
    (worker,) = live_workers(job)
    world.clock.advance(after)
    if says:
        world.host.write(worker, says)
    world.host.exit(worker, exit_code)
    world.planner.wishes.clear()
    world.tick(2)
    world.clock.advance(40)  # longer than any back-off


def of_restart_mode(world: World) -> Job:
    return world.job(elastic={"mode": "restart"})


def test_a_script_that_writes_between_its_losses_is_never_given_up(world: World) -> None:
    job = of_restart_mode(world)
    for epoch in range(7):
        lose(world, job, after=135, says=f"epoch {epoch}")
    assert (fresh(job).state, fresh(job).losses) == ("queued", 7)


def test_a_silent_script_that_runs_for_minutes_lives_as_well(world: World) -> None:
    job = of_restart_mode(world)
    for _ in range(7):
        lose(world, job, after=400)
    assert fresh(job).state == "queued"


def test_what_a_script_says_while_it_starts_is_no_sign_of_life(world: World) -> None:
    job = of_restart_mode(world)
    for _ in range(5):
        lose(world, job, after=20, says="loading the model")
    failed = fresh(job)
    assert (failed.state, failed.reason) == ("failed", "workers_lost")
    assert "5 times in a row" in failed.message


def test_waiting_for_a_coordinator_is_no_life(world: World) -> None:
    job = of_restart_mode(world)
    for _ in range(5):
        lose(world, job, after=600, exit_code=ExitCode.COORDINATOR_LOST)
    failed = fresh(job)
    assert (failed.state, failed.reason) == ("failed", "workers_lost")
    assert "no coordinator" in failed.message
