"""Growing, shrinking, moving, and what happens to a joiner that does not come."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from autoscaler.planning.speed.throughput import Configurations
from concertina_worker.protocol import MemberPhase
from jobs.models import Assignment, Event, Generation, Job, Measurement, Worker
from tests.control_loop.world import World, claims, fresh, kinds, live_workers


def test_a_job_grows_and_its_first_workers_keep_their_ranks(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    before = live_workers(job)
    world.wish(job, 3, batch=48)
    world.tick()
    rescaling = fresh(job)
    assert (rescaling.state, rescaling.revision) == ("rescaling", 2)
    newest = Assignment.objects.get(job=job, revision=2)
    assert newest.worker_ids == [*before, f"{job.id}-1-3"]
    assert (newest.global_batch_size, newest.reason) == (48, "fair_share")
    assert world.running_processes() == {"digits": 3}
    coordinator.train()
    running = fresh(job)
    assert (running.state, running.generation, running.rescales) == ("running", 2, 1)
    assert Generation.objects.get(job=job, number=2).message == (
        "Starts on 3 workers (3 GPUs, which a job of team language gives back: team vision is "
        "guaranteed 2) with a global batch of 48."
    )


def test_only_admins_find_the_names_of_other_teams_jobs_in_a_decision(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    told = fresh(job)
    assert "which a job of team language gives back" in told.explanation["message"]
    assert "other-name" not in json.dumps(told.explanation)
    assert "other-id" not in json.dumps(told.explanation)
    assert "which other-name gives back" in told.explanation_for_admins["message"]
    written = [*Event.objects.filter(job=job).values("message", "data")]
    written += Assignment.objects.filter(job=job).values("message", "decision")
    assert "other-name" not in json.dumps(written)


def test_a_leaver_holds_its_gpu_until_it_was_seen_gone(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 3)
    leaver = live_workers(job)[2]
    world.wish(job, 2)
    world.tick()
    coordinator.train()
    world.tick()
    assert fresh(job).state == "running"
    assert Worker.objects.get(pk=leaver).phase == "leaving"
    assert ("n1", 2, leaver) in claims()
    assert not world.planner.job(job).can_rescale
    world.host.exit(leaver, 83)
    world.tick()
    gone = Worker.objects.get(pk=leaver)
    assert (gone.phase, gone.exit_code) == ("gone", 83)
    assert len(claims()) == 2
    assert (fresh(job).failures, fresh(job).losses) == (0, 0)
    assert world.planner.job(job).can_rescale


def test_who_gives_comes_before_who_takes(world: World) -> None:
    lender, borrower = world.job("lender"), world.job("borrower")
    coordinator = world.running(lender, 4)
    leaver = live_workers(lender)[3]
    world.wish(lender, 3)
    world.wish(borrower, 1)
    world.tick()
    assert fresh(lender).state == "rescaling"
    assert fresh(borrower).state == "queued"  # no GPU is booked twice
    coordinator.train()
    world.host.exit(leaver, 83)
    world.tick()
    assert fresh(borrower).state == "starting"
    assert len(claims()) == 4


def test_gpus_on_their_way_back_are_not_asked_for_twice(world: World) -> None:
    job = world.job()
    world.running(job, 4)
    world.wish(job, 2)
    world.tick(2)
    seen = world.planner.job(job)
    assert seen.allocation is not None
    assert seen.target is not None
    assert (seen.allocation.workers, seen.target.workers) == (4, 2)


def test_only_the_batch_changes(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    world.wish(job, 2, batch=64)
    world.tick()
    newest = Assignment.objects.get(job=job, revision=2)
    assert (newest.global_batch_size, newest.worker_ids) == (64, live_workers(job))
    assert len(world.host.launches) == 3


def test_a_job_moves_to_another_node(make_world: Callable[..., World], db: None) -> None:
    world = make_world(nodes=(2, 2))
    job = world.job()
    coordinator = world.running(job, {"n1": 2})
    leavers = live_workers(job)
    world.wish(job, {"n2": 2})
    world.tick()
    assert len(claims()) == 4
    coordinator.train()
    for leaver in leavers:
        world.host.exit(leaver, 83)
    world.tick()
    assert {node for node, _, _ in claims()} == {"n2"}


def test_a_joiner_that_is_not_ready_in_time_is_dropped(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    first = live_workers(job)[0]
    world.wish(job, 3)
    world.tick()
    second, third = live_workers(job)[1:]
    world.planner.wishes[job.id] = {"n1": 2}
    world.clock.advance(70)
    coordinator.sync({first: MemberPhase.TRAINING, second: MemberPhase.READY})
    world.tick()
    newest = Assignment.objects.filter(job=job).last()
    assert newest is not None
    assert newest.worker_ids == [first, second]
    assert "joiner_dropped" in kinds(job)
    assert third in {process_id for process_id, _ in world.host.stops}
    coordinator.train()
    world.tick()
    assert fresh(job).state == "running"
    assert fresh(job).losses == 0
    assert live_workers(job) == [first, second]


def test_a_joiner_that_dies_is_left_out_of_the_change(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    first = live_workers(job)[0]
    world.wish(job, 2)
    world.tick()
    world.host.exit(live_workers(job)[1], -9)
    world.wish(job, 1)
    world.tick()
    newest = Assignment.objects.filter(job=job).last()
    assert newest is not None
    assert (newest.worker_ids, newest.reason) == ([first], "node_lost")
    coordinator.train()
    assert fresh(job).state == "running"
    assert fresh(job).losses == 1


@pytest.mark.parametrize("exits_seen_together", [True, False])
def test_a_job_that_ends_while_it_grows_has_completed(
    world: World, *, exits_seen_together: bool
) -> None:
    job = world.job()
    world.running(job, 2)
    trained = live_workers(job)
    world.wish(job, 4)
    world.tick()
    joiners = live_workers(job)[2:]
    for worker in trained:
        world.host.exit(worker, 0)
        if not exits_seen_together:
            world.tick()
    world.tick()
    assert (fresh(job).state, fresh(job).ends_as) == ("stopping", "completed")
    assert fresh(job).message == "Ran to its end on 2 workers."
    assert {process_id for process_id, _ in world.host.stops} == set(joiners)
    assert "joiner_dropped" not in kinds(job)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_fixed_job_is_shown_as_one_that_cannot_change(world: World, workers: int) -> None:
    job = world.job(elastic={"mode": "fixed"})
    world.running(job, 2)
    world.wish(job, workers)
    world.tick()
    seen = world.planner.job(job)
    assert (seen.can_rescale, seen.can_pause) == (False, True)
    assert fresh(job).revision == 1


def has_trained_for_an_hour(job: Job) -> None:
    """So that a change may have taken the time that it says."""
    began = fresh(job).submitted_at - timedelta(hours=1)
    Job.objects.filter(pk=job.id).update(started_at=began)
    Generation.objects.filter(job=job).update(began_at=began)


def has_steps_of(seconds: float, job: Job) -> None:
    Measurement.objects.create(
        job=job,
        gpu_type=job.pool.gpu_type,
        workers=1,
        global_batch_size=32,
        steps=100,
        step_seconds=seconds,
    )


def test_a_measured_job_is_shown_with_its_measurements_and_stall(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    has_trained_for_an_hour(job)
    world.wish(job, 2)
    world.tick()
    coordinator.train()
    coordinator.sync(
        total_samples=1000,
        model_bytes=123,
        measurements=[
            {"workers": 1, "global_batch_size": 32, "steps": 50, "step_seconds": 0.1},
        ],
    )
    world.tick()
    seen = world.planner.job(job)
    assert seen.stall_seconds == pytest.approx(0.25)
    assert (seen.remaining_samples, seen.model_bytes, seen.rescales) == (1000, 123, 1)
    assert seen.scaling is not None
    assert (seen.scaling.measured_workers, seen.scaling.measured_batch) == (1, 32)
    at = Configurations.of(workers=[1], crosses_nodes=[False], global_batch=[32])
    assert seen.scaling.throughput.step_seconds(at) == pytest.approx(0.1, rel=0.02)


def test_a_change_is_expected_to_take_as_long_as_a_step_and_a_copy_until_one_was_made(
    world: World,
) -> None:
    """Half a second, which was guessed of all jobs, would be a tenth of it for this one."""
    job = world.job()
    world.running(job, 1)
    has_steps_of(6.0, job)
    Job.objects.filter(pk=job.pk).update(model_bytes=400_000_000)
    world.tick()
    assert world.planner.job(job).stall_seconds == pytest.approx(6.2)


def test_the_changes_of_others_between_the_same_nodes_tell_how_far_the_first_guess_is_off(
    world: World,
) -> None:
    """A quarter of a second, where one step of 0.5 s was expected: half as long."""
    other, job = world.job("other"), world.job("new")
    coordinator = world.running(other, 1)
    has_trained_for_an_hour(other)
    world.wish(other, 2)
    world.tick()
    coordinator.train()
    Job.objects.filter(pk=other.pk).update(samples_per_second=64.0)
    world.running(job, 1)
    has_steps_of(8.0, job)
    world.tick()
    assert world.planner.job(other).stall_seconds == pytest.approx(0.25)
    assert world.planner.job(job).stall_seconds == pytest.approx(4.0)


def test_what_a_loss_cost_is_not_expected_of_a_rescale(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    has_trained_for_an_hour(job)
    world.wish(job, 2)
    world.tick()
    coordinator.train()
    survivor, lost = live_workers(job)
    coordinator.sync(
        generations=[
            {
                "number": 3,
                "revision": 2,
                "cause": "worker_lost",
                "workers": [survivor],
                "global_batch_size": 32,
                "began_at": world.clock().timestamp(),
                "stall_seconds": 9.0,
                "lost_workers": [lost],
            }
        ]
    )
    world.tick()
    assert world.planner.job(job).stall_seconds == pytest.approx(0.25)


def test_a_move_waits_until_its_new_places_are_free(
    make_world: Callable[..., World], db: None
) -> None:
    world = make_world(nodes=(2, 2))
    mover, leaver = world.job("mover"), world.job("leaver")
    world.running(mover, {"n1": 2})
    coordinator = world.running(leaver, {"n2": 2})
    (leaving,) = live_workers(leaver)[1:]
    world.wish(leaver, {"n2": 1})
    world.wish(mover, {"n1": 1, "n2": 1})
    world.tick()
    assert (fresh(leaver).state, fresh(mover).state) == ("rescaling", "running")
    coordinator.train()
    world.host.exit(leaving, 83)
    world.tick()
    assert fresh(mover).state == "rescaling"
    assert len(claims()) == 4  # one of the mover's workers leaves after the switch


def test_joiners_come_before_leavers_go_when_a_job_moves(
    make_world: Callable[..., World], db: None
) -> None:
    world = make_world(nodes=(2, 2))
    job = world.job()
    coordinator = world.running(job, {"n1": 2})
    old = live_workers(job)
    world.wish(job, {"n2": 2})
    world.tick()
    assert world.running_processes() == {"digits": 4}
    assert world.host.stops == []
    coordinator.train()
    assert fresh(job).state == "running"
    for worker in old:
        world.host.exit(worker, 83)
    world.tick()
    assert (fresh(job).losses, fresh(job).failures) == (0, 0)
    assert {node for node, _, _ in claims()} == {"n2"}


def test_a_job_of_restart_mode_moves_once_its_new_places_are_free(
    make_world: Callable[..., World], db: None
) -> None:
    world = make_world(nodes=(2, 2))
    job, other = world.job(elastic={"mode": "restart"}), world.job("other")
    world.running(other, {"n2": 1})
    world.wish(job, {"n1": 2})
    world.tick(2)
    assert fresh(job).state == "running"
    world.wish(job, {"n2": 2})
    world.tick()
    assert fresh(job).revision == 1  # it keeps what it has rather than ending for nothing
    world.wish(job, {"n1": 1, "n2": 1})
    world.tick()
    assert fresh(job).state == "rescaling"
