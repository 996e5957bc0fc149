"""A job that is lost again and again: given up when nothing ever lives between, and only then."""

from __future__ import annotations

from jobs.models import Job
from tests.control_loop.world import World, fresh, live_workers


def lose(world: World, job: Job, *, after: float, says: str) -> None:
    """The job runs for so long, says something at the end of it, and is lost."""
    world.wish(job, 1)
    world.tick(2)
    assert fresh(job).state == "running"
    (worker,) = live_workers(job)
    world.clock.advance(after)
    world.host.write(worker, says)
    world.host.exit(worker, -9)
    world.planner.wishes.clear()
    world.tick(2)
    world.clock.advance(40)  # longer than any back-off


def of_restart_mode(world: World) -> Job:
    return world.job(elastic={"mode": "restart"})


def test_what_a_script_writes_between_its_losses_is_a_sign_of_life(world: World) -> None:
    job = of_restart_mode(world)
    for epoch in range(3):
        lose(world, job, after=135, says=f"epoch {epoch}")
    assert (fresh(job).state, fresh(job).losses, fresh(job).losses_in_a_row) == ("queued", 3, 1)


def test_what_a_script_says_while_it_starts_is_no_sign_of_life(world: World) -> None:
    job = of_restart_mode(world)
    for _ in range(5):
        lose(world, job, after=20, says="loading the model")
    failed = fresh(job)
    assert (failed.state, failed.reason) == ("failed", "workers_lost")
    assert "5 times in a row" in failed.message
