"""What it cost a script to be started with other workers stands with its generation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from cluster.logs import log_files
from cluster.logs.log_lines import timestamp

from autoscaler.restart_costs.measuring import measure_restarts
from jobs.models import Generation, Job
from tests.control_loop.world import World, fresh, live_workers


def write(world: World, job: Job, worker: str, texts: Iterable[str], *, begin: datetime) -> None:
    """A line each second."""
    path = log_files.path_of(worker, job_id=job.id, state_dir=world.state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as log:
        for place, text in enumerate(texts):
            at = begin + timedelta(seconds=place)
            log.write(f"{timestamp(int(at.timestamp() * 1e9))} stdout {text}\n")


def look(world: World, *, after: float = 6.0) -> int:
    world.clock.advance(after)
    return measure_restarts(world.clock(), world.state_dir, has_time=lambda: True)


def rescaled(world: World, old: Iterable[str], *, workers: int = 2) -> tuple[Job, Generation, str]:
    """A job that wrote these lines and was then given other workers; with the first of those."""
    job = world.job(elastic={"mode": "restart"})
    world.wish(job, 1)
    world.tick(2)
    (before,) = live_workers(job)
    write(world, job, before, old, begin=world.clock())
    world.clock.advance(100)
    world.wish(job, workers)
    world.tick(4)
    assert fresh(job).state == "running"
    newest = Generation.objects.get(job=job, number=2)
    return job, newest, newest.worker_ids[0]


def test_the_first_start_cost_nothing_that_could_be_known(world: World) -> None:
    job = world.job(elastic={"mode": "restart"})
    world.wish(job, 1)
    world.tick(2)
    first = Generation.objects.get(job=job)
    assert (first.restart_ordered_at, first.restart_look_at) == (None, None)


def test_a_rescale_tells_how_long_it_took_and_what_was_made_again(world: World) -> None:
    job, newest, worker = rescaled(world, [f"step {n} loss 0.5" for n in range(90)])
    ordered_at = newest.restart_ordered_at
    assert ordered_at is not None
    texts = ["loading", *(f"step {n} loss 0.5" for n in range(60, 70))]
    write(world, job, worker, texts, begin=ordered_at + timedelta(seconds=8))
    assert look(world) == 1
    newest.refresh_from_db()
    assert newest.restart_seconds == pytest.approx(9.0, abs=0.1)
    assert (newest.restart_sign, newest.repeated_unit) == ("iteration", "iteration")
    assert newest.repeated_units == 29
    assert newest.repeated_seconds == pytest.approx(40.0, abs=2.0)  # from step 60 to the order
    assert "`step 60`" in newest.restart_message
    assert look(world, after=4000) == 0  # it is known


def test_it_is_looked_at_again_until_the_script_has_written(world: World) -> None:
    job, newest, worker = rescaled(world, [f"step {n}" for n in range(5)])
    assert look(world) == 1
    newest.refresh_from_db()
    assert (newest.restart_seconds, newest.repeated_seconds) == (None, None)
    assert look(world, after=0.1) == 0
    write(world, job, worker, ["step 5", "step 6"], begin=world.clock())
    assert look(world, after=60) == 1
    newest.refresh_from_db()
    assert (newest.repeated_units, newest.repeated_seconds) == (0.0, 0.0)
    assert newest.restart_look_at is None


def test_a_script_that_never_tells_is_given_up_after_an_hour(world: World) -> None:
    job, newest, worker = rescaled(world, ["loss 1"])
    write(world, job, worker, ["loss 1"], begin=world.clock())
    looks = 0
    while looks < 30 and newest.restart_look_at is not None:
        looks += look(world, after=60)
        newest.refresh_from_db()
    assert 5 < looks < 20
    assert (newest.restart_sign, newest.repeated_seconds) == ("line", None)
    assert "not known" in newest.restart_message


def test_a_loss_is_a_restart_too(world: World) -> None:
    job = world.job(elastic={"mode": "restart"})
    world.wish(job, 1)
    world.tick(2)
    (lost,) = live_workers(job)
    write(world, job, lost, [f"step {n}" for n in range(10)], begin=world.clock())
    world.clock.advance(10)
    world.host.exit(lost, -9)
    world.tick(3)
    (worker,) = live_workers(job)
    write(world, job, worker, ["step 0", "step 1"], begin=world.clock())
    assert look(world) == 1
    newest = Generation.objects.get(job=job, number=2)
    assert newest.repeated_units == 9
    assert newest.repeated_seconds == pytest.approx(10.0, abs=1.0)


def test_logs_that_are_gone_keep_no_other_restart_waiting(world: World) -> None:
    job, newest, worker = rescaled(world, ["step 1", "step 2"])
    folder = log_files.folder_of(job.id, state_dir=world.state_dir)
    whole = log_files.path_of(worker, job_id=job.id, state_dir=world.state_dir)
    log_files.next_path(whole, 4096).write_text(f"{timestamp(0)} stdout step 2\n")
    (folder / "trimmed").touch()
    assert look(world) == 1
    newest.refresh_from_db()
    assert newest.restart_message == "Not known: the beginning of its log is gone."
    assert newest.restart_look_at is not None
