"""Workers that are killed, crash, vanish, or could never run."""

from __future__ import annotations

import json

import pytest
from cluster.models import Node
from cluster.worker_host import Failing

from concertina_worker.protocol import Env, ExitCode
from jobs.api.serializers.job import JobSerializer
from jobs.models import Assignment, Event, Job, Worker
from jobs.queries.visible_jobs import with_numbers
from tests.control_loop.world import World, claims, fresh, kinds, live_workers, states


def test_survivors_go_on_and_the_lost_worker_is_replaced(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 3)
    lost = live_workers(job)[1]
    world.host.exit(lost, -9)
    world.tick()
    assert (fresh(job).losses, fresh(job).failures, fresh(job).state) == (1, 0, "rescaling")
    newest = Assignment.objects.filter(job=job).last()
    assert newest is not None
    assert newest.worker_ids == [f"{job.id}-1-1", f"{job.id}-1-3", f"{job.id}-1-4"]
    assert "worker_lost" in kinds(job)
    coordinator.train()
    assert fresh(job).state == "running"
    assert len(claims()) == 3


def test_a_job_that_goes_on_with_fewer_says_that_it_wants_no_more(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    world.wish(job, 1)  # as when another job gets the GPU of the lost worker at once
    world.host.exit(live_workers(job)[1], -9)
    world.tick(2)
    assert (fresh(job).state, len(live_workers(job))) == ("running", 1)
    told = JobSerializer(with_numbers(Job.objects.filter(pk=job.pk)).get()).data
    assert told["workers_desired"] == 1


def test_all_workers_lost_starts_again_as_the_same_attempt(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    for worker in live_workers(job):
        world.host.exit(worker, -9)
    world.tick()
    world.clock.advance(6)
    world.tick(3)
    again = fresh(job)
    assert (again.state, again.attempt, again.losses, again.failures) == ("starting", 1, 2, 0)
    assert live_workers(job) == [f"{job.id}-1-3", f"{job.id}-1-4"]


def test_running_out_of_memory_is_no_failure_and_a_lower_limit_is_progress(world: World) -> None:
    job = world.job(batch={"global_batch_size": 64, "gradient_accumulation": False})
    for limit in (32, 16, 8, 4, 2, 1):
        coordinator = world.running(job, 1)
        coordinator.sync(batch_limit=limit)
        world.host.exit(live_workers(job)[0], ExitCode.OUT_OF_MEMORY)
        world.tick()
        assert fresh(job).ends_as == "queued"
        world.clock.advance(6)
        world.planner.wishes.clear()
        world.tick(3)
        assert fresh(job).state == "queued"
        assert batch_limit_seen(world, job) == limit
    world.wish(job, 1)
    world.tick()
    (worker,) = live_workers(job)
    assert json.loads(world.host.launch_of(worker).env[Env.BATCH])["max_per_gpu"] == 1
    assert fresh(job).failures == 0


def batch_limit_seen(world: World, job: Job) -> int | None:
    batch = world.planner.job(job).batch
    assert batch is not None
    return batch.max_per_gpu


def test_a_crash_is_retried_later_each_time_then_fails_with_its_last_lines(world: World) -> None:
    job = world.job(max_restarts=2)
    world.wish(job, 2)
    for attempt in (1, 2, 3):
        world.tick()
        crashing = fresh(job)
        assert (crashing.state, crashing.attempt) == ("starting", attempt)
        for worker in live_workers(job):
            world.host.write(worker, "Traceback (most recent call last):", stream="stderr")
            world.host.write(worker, "ZeroDivisionError: division by zero", stream="stderr")
            world.host.exit(worker, 1)
        world.tick()
        if attempt < 3:
            assert "ZeroDivisionError" in fresh(job).message
        world.clock.advance(6)
        world.tick(2)
        world.clock.advance(2.0**attempt)
    failed = fresh(job)
    assert (failed.state, failed.reason, failed.failures) == ("failed", "job_failed", 3)
    assert failed.message.startswith("Failed after 2 restarts.")
    assert failed.message.endswith("exit code 1: ZeroDivisionError: division by zero")
    assert failed.finished_at is not None
    last = Event.objects.filter(job=job, new_state="stopping").order_by("id").last()
    assert last is not None
    assert last.data["log"][-1] == "ZeroDivisionError: division by zero"
    assert states(job)[-2:] == ["stopping", "failed"]
    assert claims() == set()


def test_a_kill_for_memory_names_the_limit_also_where_the_job_named_none(world: World) -> None:
    Node.objects.update(memory_bytes=40 << 30)
    job = world.job()
    world.running(job, 2)
    world.host.exit(live_workers(job)[0], -9, failing=Failing.OUT_OF_MEMORY)
    world.tick()
    lost = Event.objects.filter(job=job, kind="worker_lost").get()
    assert "needed more than its 9GiB of memory" in lost.message


@pytest.mark.parametrize(
    "said",
    [
        'Traceback (most recent call last):\n  File "train.py"\nValueError: bad label\n',
        "ValueError: bad label\n  expected one of:\n  0, 1",
    ],
)
def test_what_a_script_said_in_many_lines_is_told_in_one(world: World, said: str) -> None:
    job = world.job(max_restarts=1)
    world.running(job, 1)
    (worker,) = live_workers(job)
    Worker.objects.filter(pk=worker).update(error=said)
    world.host.write(worker, "ValueError: bad label", stream="stderr")
    world.host.exit(worker, 1)
    world.tick()
    assert fresh(job).message == "Attempt 1 failed: ValueError: bad label. Attempt 2 starts in 1 s."
    stopping = Event.objects.get(job=job, new_state="stopping")
    assert stopping.data["log"] == ["ValueError: bad label"]
    assert not [event for event in Event.objects.filter(job=job) if "\n" in event.message]
    assert Worker.objects.get(pk=worker).error == said


def test_a_line_without_end_is_cut(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    (worker,) = live_workers(job)
    world.host.write(worker, "epoch 1: " + "#" * 16_000, stream="stderr")
    world.host.exit(worker, 1)
    world.tick()
    event = Event.objects.get(job=job, kind="worker_failed")
    assert event.message.startswith(f"{worker} ended with exit code 1: epoch 1: ###")
    assert event.message.endswith("…")
    assert len(event.message) < 600
    assert len(event.data["log"][0]) == 500
    assert len(fresh(job).message) < 600


def test_a_job_in_its_back_off_is_not_planned(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    world.tick()
    world.host.exit(live_workers(job)[0], 1)
    world.tick()
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    waiting = fresh(job)
    assert (waiting.state, waiting.attempt, waiting.failures) == ("queued", 2, 1)
    assert waiting.not_before is not None
    assert world.planner.seen[-1].jobs == ()
    assert "Attempt 2 starts in 1 s" in waiting.message
    world.clock.advance(2)
    world.tick()
    assert fresh(job).state == "starting"


def test_a_crash_of_one_worker_is_a_failure_that_the_others_survive(world: World) -> None:
    job = world.job(max_restarts=1)
    coordinator = world.running(job, 2)
    world.host.exit(live_workers(job)[1], 1)
    world.tick()
    assert (fresh(job).failures, fresh(job).state, fresh(job).attempt) == (1, "rescaling", 1)
    coordinator.train()
    world.tick()
    world.host.exit(live_workers(job)[1], 1)
    world.tick()
    assert (fresh(job).failures, fresh(job).ends_as) == (2, "failed")


def test_a_worker_killed_while_starting_does_not_count_as_a_failure(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    world.host.exit(live_workers(job)[0], -9)
    world.tick()
    newest = Assignment.objects.filter(job=job).last()
    assert newest is not None
    assert newest.worker_ids == [f"{job.id}-1-2"]
    assert (fresh(job).state, fresh(job).failures, fresh(job).losses) == ("starting", 0, 1)


def test_a_worker_its_coordinator_gave_up_is_killed_at_once_though_it_is_alone(
    world: World,
) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    (hung,) = live_workers(job)
    coordinator.sync(
        workers=[
            {
                "worker_id": hung,
                "phase": "lost",
                "error": "Given up: no heartbeat for 4.8 s",
                "given_up": True,
            }
        ]
    )
    world.tick()
    assert hung not in world.host.running()
    event = Event.objects.get(job=job, kind="worker_hung")
    assert event.message.endswith("is killed. Given up: no heartbeat for 4.8 s")
    world.tick(2)
    assert fresh(job).losses == 1
    assert hung not in live_workers(job)
