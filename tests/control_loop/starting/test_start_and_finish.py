"""From queued to completed: claims, processes, environments, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cluster.worker_host import HostUnavailable, Launch, ProcessRole

from autoscaler.control_loop.carry_out.instructions import job_rows
from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.lease.exclusive import exclusively
from autoscaler.control_loop.observe.jobs.seats import FreeSeats
from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import Stop
from concertina_worker.protocol import ExitCode, MemberPhase
from jobs.commands import control
from jobs.errors import LimitUsedUp
from jobs.lifecycle import JobState
from jobs.models import Job, Worker
from jobs.reports import job_token
from tests.control_loop.coordinator import Coordinator, metric
from tests.control_loop.obedient_planner import ObedientPlanner
from tests.control_loop.world import World, claims, fresh, kinds, live_workers, states


@pytest.mark.parametrize(("early_end", "state"), [("failed", "failed"), ("completed", "completed")])
def test_a_script_that_ends_before_its_training_has_an_outcome_of_its_own(
    world: World, early_end: str, state: str
) -> None:
    job = world.job(early_end=early_end)
    world.running(job, 2)
    for worker in live_workers(job):
        said = "concertina: the script ended in epoch 2 of 30, and without job.finish()."
        world.host.write(worker, said, stream="stderr")
        world.host.write(worker, "Traceback (most recent call last):", stream="stdout")
        world.host.exit(worker, ExitCode.ENDED_EARLY)
    world.tick()
    ending = fresh(job)
    assert (ending.state, ending.ends_as, ending.reason) == ("stopping", state, "ended_early")
    assert ending.message.startswith("The script ended in epoch 2 of 30, and without job.finish().")
    assert ("early_end: completed" in ending.message) is (state == "failed")
    assert (ending.failures, ending.losses) == (0, 0)


def test_a_waiting_job_waits_and_says_why(world: World) -> None:
    job = world.job()
    world.tick()
    assert fresh(job).state == "queued"
    assert fresh(job).message == (
        "Cannot start: its smallest size needs 3 GPUs, the limit of team vision is 2. "
        "Lower min_workers, or have the limit raised to 3."
    )
    assert fresh(job).explanation["action"] == "wait"
    assert world.host.launches == []


def test_a_start_claims_gpus_and_starts_the_coordinator_before_the_workers(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    started = fresh(job)
    assert (started.state, started.attempt, started.revision) == ("starting", 1, 1)
    assert started.started_at is not None
    first, second = f"{job.id}-1-1", f"{job.id}-1-2"
    assert claims() == {("n1", 0, first), ("n1", 1, second)}
    assert [launch.labels.process_id for launch in world.host.launches] == [
        f"{job.id}-coordinator",
        first,
        second,
    ]


def test_a_worker_gets_the_librarys_and_torchruns_environment(world: World) -> None:
    job = world.job(env={"MINE": "yes", "OMP_NUM_THREADS": "3"}, seed=7)
    world.wish(job, 2)
    world.tick()
    launch = world.host.launch_of(f"{job.id}-1-2")
    port = fresh(job).coordinator_port
    assert launch.command == ("python", "train.py")
    assert launch.gpu_indices == (1,)
    expected = {
        "CONCERTINA_JOB_ID": job.id,
        "CONCERTINA_WORKER_ID": f"{job.id}-1-2",
        "CONCERTINA_ATTEMPT": "1",
        "CONCERTINA_COORDINATOR": f"127.0.0.1:{port}",
        "CONCERTINA_CHECKPOINT_DIR": str(world.state_dir / "jobs" / job.id / "checkpoints"),
        "CONCERTINA_GPU_INDICES": "1",
        "CONCERTINA_SEED": "7",
        "RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MINE": "yes",
        "OMP_NUM_THREADS": "3",
    }
    assert {name: launch.env.get(name) for name in expected} == expected
    assert launch.env["PATH"].startswith("/opt/concertina/bin:")
    assert launch.secret_env["CONCERTINA_TOKEN"] == job_token.of_workers(job.id)
    assert "CONCERTINA_SERVICE_TOKEN" not in launch.secret_env
    assert "CONCERTINA_TOKEN" not in launch.env
    assert json.loads(launch.env["CONCERTINA_BATCH"])["base"] == 32
    assert "CONCERTINA_SERVICE_URL" not in launch.env
    assert launch.env["MASTER_PORT"] == world.host.launch_of(f"{job.id}-1-1").env["MASTER_PORT"]


def test_a_coordinator_is_told_where_the_service_is(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    world.tick()
    launch = world.host.launch_of(f"{job.id}-coordinator")
    assert launch.labels.role is ProcessRole.COORDINATOR
    assert launch.command[1:] == ("-m", "concertina_worker.coordinator")
    assert launch.env["CONCERTINA_SERVICE_URL"] == "http://127.0.0.1:1"


def test_a_coordinator_is_the_only_one_whose_token_the_service_takes(world: World) -> None:
    job = world.job()
    Job.objects.filter(pk=job.id).update(takes_workers_token=True)  # as of an earlier release
    world.wish(job, 1)
    world.tick()
    token = world.host.launch_of(f"{job.id}-coordinator").secret_env["CONCERTINA_SERVICE_TOKEN"]
    assert job_token.read(token, job.id, now=world.clock()) == job_token.Credential(term=0)
    assert not fresh(job).takes_workers_token


def test_a_user_cannot_overrule_what_the_platform_sets(world: World) -> None:
    job = world.job(env={"RANK": "9", "PATH": "/mine"})
    world.wish(job, 1)
    world.tick()
    launch = world.host.launch_of(f"{job.id}-1-1")
    assert launch.env["RANK"] == "0"
    assert launch.env["PATH"] != "/mine"


def test_a_job_whose_workers_all_end_with_0_is_completed(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    for worker in live_workers(job):
        world.host.exit(worker, 0)
    world.tick()
    assert fresh(job).state == "stopping"  # until the coordinator has said its last word
    assert claims() == set()
    coordinator.sync()
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    assert fresh(job).state == "completed"
    assert fresh(job).message == "Ran to its end on 2 workers."
    assert states(job) == ["starting", "running", "stopping", "completed"]
    assert world.host.list().processes == ()


def test_one_that_is_cut_off_is_waited_for_with_what_it_has_yet_to_tell(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    world.host.exit(live_workers(job)[0], 0)
    world.tick()
    world.clock.advance(30)
    world.tick(2)
    assert world.host.stops == []
    assert claims() == set()
    coordinator.sync(metrics=[metric(fresh(job).generation, 120)])
    world.host.exit(f"{job.id}-coordinator", ExitCode.COMPLETED)
    world.tick()
    assert (fresh(job).state, fresh(job).step) == ("completed", 120)


def test_a_job_waits_for_its_slowest_worker_to_end(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    first, second = live_workers(job)
    world.host.exit(first, 0)
    world.tick()
    assert fresh(job).state == "running"
    assert not world.planner.job(job).can_rescale
    world.host.exit(second, 0)
    world.tick()
    assert fresh(job).ends_as == "completed"


def test_a_start_that_does_not_fit_yet_changes_nothing(world: World) -> None:
    first, second = world.job("first"), world.job("second")
    world.running(first, 3)
    world.wish(second, 2)
    world.tick()
    assert fresh(second).state == "queued"
    assert not Worker.objects.filter(job=second).exists()
    world.wish(second, 1)
    world.tick()
    assert fresh(second).state == "starting"


def test_a_crash_between_commit_and_start_is_completed_by_the_next_tick(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.job()
    world.wish(job, 2)
    start = world.host.start

    def die(_host: object, *launches: Launch) -> None:
        for launch in launches:
            if launch.labels.process_id.endswith("-2"):
                raise KeyboardInterrupt  # as when the process is killed in this line
            start(launch)

    with monkeypatch.context() as patched:
        patched.setattr(type(world.host), "start", die)
        with pytest.raises(KeyboardInterrupt):
            world.tick()
    assert fresh(job).state == "starting"
    assert len(claims()) == 2
    world.tick()
    assert world.running_processes() == {"digits": 2}
    assert len(live_workers(job)) == 2


def test_a_host_that_does_not_answer_costs_nothing_but_time(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    world.host.is_unavailable = True
    assert not world.loop().run_once()
    world.host.is_unavailable = False
    world.tick()
    assert fresh(job).state == "starting"


def test_a_host_that_fails_at_start_is_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.job()
    world.wish(job, 1)

    def refuse(_host: object, *_: Launch) -> None:
        raise HostUnavailable("busy")

    with monkeypatch.context() as patched:
        patched.setattr(type(world.host), "start", refuse)
        world.tick()
    assert fresh(job).state == "starting"
    world.tick()
    assert world.running_processes() == {"digits": 1}


def test_a_worker_that_is_ready_in_the_very_tick_that_started_it_is_not_taken_for_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.job()
    world.wish(job, 1)
    start = world.host.start

    def refuse(_host: object, *_: Launch) -> None:
        raise HostUnavailable("busy")

    def start_and_train(_host: object, *launches: Launch) -> None:
        start(*launches)
        if launches[0].labels.process_id.endswith("-1-1"):
            Coordinator(job.id).train()

    with monkeypatch.context() as patched:
        patched.setattr(type(world.host), "start", refuse)
        world.tick()
    world.wish(job, 2)
    with monkeypatch.context() as patched:
        patched.setattr(type(world.host), "start", start_and_train)
        world.tick()
    assert fresh(job).state == "running"
    assert live_workers(job) == [f"{job.id}-1-1"]
    world.tick()
    assert fresh(job).state == "rescaling"
    assert live_workers(job) == [f"{job.id}-1-1", f"{job.id}-1-2"]
    assert len(claims()) == 2


def test_a_second_tick_changes_nothing(world: World) -> None:
    job = world.job()
    world.running(job, 2)

    def everything() -> tuple[object, ...]:
        row = Job.objects.filter(pk=job.id).values(
            "state", "revision", "attempt", "generation", "rescales", "explanation"
        )
        return (row.get(), claims(), states(job), len(world.host.launches))

    before = everything()
    world.tick(3)
    assert everything() == before


def test_gpu_time_is_counted_from_start_to_end(world: World) -> None:
    job = world.job(resources={"gpus_per_worker": 2})
    world.running(job, 2)
    world.clock.advance(100)
    world.tick()
    assert fresh(job).gpu_seconds == pytest.approx(400, abs=20)
    assert fresh(job).held_seconds == pytest.approx(100, abs=10)  # by both workers at once


def test_a_job_that_has_used_up_its_budget_is_told_of_it_and_then_ended(world: World) -> None:
    job = world.job(budget_gpu_hours=0.1)
    coordinator = world.running(job, 2)
    for seconds in (150, 40):
        world.clock.advance(seconds)
        coordinator.sync()
        world.tick(2)
    assert kinds(job).count("limit_near") == 1
    stopped = fresh(job)
    assert (stopped.state, stopped.ends_as) == ("stopping", "failed")
    _let_leave(world)
    failed = fresh(job)
    assert (failed.state, failed.reason) == ("failed", "budget_used_up")
    assert "of 0.1 GPU-hours" in failed.message
    assert claims() == set()


def test_time_in_which_a_job_holds_no_gpu_does_not_count(world: World) -> None:
    job = world.job(max_duration="2m")
    world.running(job, 1)
    world.clock.advance(60)
    control.pause(job_id=job.id, actor="ada")
    world.tick()
    _let_leave(world)
    assert fresh(job).state == "paused"
    held = fresh(job).held_seconds
    assert held == pytest.approx(60, abs=10)
    world.clock.advance(600)
    control.resume(job_id=job.id, actor="ada")
    world.running(job, 2)
    assert fresh(job).held_seconds == pytest.approx(held, abs=10)


def test_a_paused_job_that_has_used_up_its_time_goes_on_with_more_of_it_only(world: World) -> None:
    job = world.job(max_duration="2m")
    Job.objects.filter(pk=job.id).update(state="paused", held_seconds=120)
    with pytest.raises(LimitUsedUp, match="used up its `max_duration`"):
        control.resume(job_id=job.id, actor="ada")
    Job.objects.filter(pk=job.id).update(held_seconds=119)
    control.resume(job_id=job.id, actor="ada")
    assert fresh(job).state == "queued"


def test_a_job_that_is_given_more_at_the_last_moment_is_not_ended(world: World) -> None:
    job = world.job(budget_gpu_hours=0.1)
    world.running(job, 1)
    stop = Stop(ends_as=JobState.FAILED, reason=JobReason.BUDGET_USED_UP, message="", version=1)
    held = fresh(job)
    held.version = 2
    draft = JobDraft(job=held, held_at=world.clock(), free=FreeSeats([], now=world.clock()))
    with pytest.raises(NotNow):
        job_rows.stop(stop, draft, None, None)  # type: ignore[arg-type] # it looks at neither


def _let_leave(world: World) -> None:
    """All workers that were told to go do so, and their coordinator after them."""
    for process in sorted(world.host.running()):
        world.host.exit(process, 0 if process.endswith("coordinator") else ExitCode.RELEASED)
    world.clock.advance(1)
    world.tick(2)


def test_gpu_time_of_a_job_that_ends_is_counted_though_its_last_tick_is_killed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.job()
    world.running(job, 1)
    world.clock.advance(100)
    for process_id in world.host.running():
        world.host.exit(process_id, 0)

    def die(*_: object) -> None:
        raise KeyboardInterrupt  # as when the process is killed before the plan is through

    with monkeypatch.context() as patched:
        patched.setattr(ObedientPlanner, "__call__", die)
        with pytest.raises(KeyboardInterrupt):
            world.tick()
    world.tick()
    assert fresh(job).state == "completed"
    (worker,) = Worker.objects.filter(job=job)
    assert worker.gone_at is not None
    lived = (worker.gone_at - worker.created_at).total_seconds()
    assert fresh(job).gpu_seconds == pytest.approx(lived)


def test_multi_gpu_workers_claim_all_their_gpus(make_world: Callable[..., World]) -> None:
    world = make_world(nodes=(4, 4))
    job = world.job(resources={"gpus_per_worker": 2})
    world.wish(job, {"n1": 2, "n2": 1})
    world.tick()
    assert sorted((node, index) for node, index, _ in claims()) == [
        ("n1", 0),
        ("n1", 1),
        ("n1", 2),
        ("n1", 3),
        ("n2", 0),
        ("n2", 1),
    ]
    launch = world.host.launch_of(f"{job.id}-1-3")
    assert (launch.node, launch.gpu_indices, launch.env["LOCAL_RANK"]) == ("n2", (0, 1), "0")


def test_a_tick_while_another_process_ticks_is_skipped(world: World) -> None:
    with exclusively(holder="other", now=world.clock()) as fence:
        assert fence is not None
    assert world.loop(holder="mine").run_once()


def test_training_starts_only_when_the_coordinator_says_so(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    coordinator = Coordinator(job.id)
    coordinator.sync(dict.fromkeys(live_workers(job), MemberPhase.READY))
    world.tick()
    assert fresh(job).state == "starting"
    coordinator.train()
    assert fresh(job).state == "running"
