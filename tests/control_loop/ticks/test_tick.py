"""What a tick does besides: orphans, alarms, broken jobs, records and samples."""

from __future__ import annotations

import errno
import gc
from dataclasses import replace

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.models import UtilisationSample
from cluster.worker_host import Labels, Launch, ProcessRole
from tenancy.models import Team

from autoscaler.control_loop.models import Tick
from autoscaler.control_loop.outside.garbage import rarely_collected
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.decisions.invariants import Violation
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.models import Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, kinds, live_workers


def test_a_tick_looks_for_garbage_rarely_and_leaves_that_as_it_was(world: World) -> None:
    found: list[tuple[int, int, int]] = []

    def plan(state: ClusterState) -> Plan:
        found.append(gc.get_threshold())
        return world.planner(state)

    before = gc.get_threshold()
    assert replace(world.loop(), planner=plan).run_once()
    assert found[0] > before
    world.host.is_unavailable = True
    assert not world.loop().run_once()
    assert gc.get_threshold() == before


def test_of_ticks_side_by_side_the_last_to_end_leaves_it_as_it_was() -> None:
    before = gc.get_threshold()
    first, second = rarely_collected(), rarely_collected()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() > before
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def stray(process_id: str, role: ProcessRole = ProcessRole.WORKER) -> Launch:
    labels = Labels(process_id=process_id, job_id="nobody", role=role, attempt=1, fence=1)
    return Launch(labels=labels, command=("sleep",), env={}, node="n1")


@pytest.mark.parametrize("role", list(ProcessRole))
def test_a_process_of_nobody_is_stopped_and_forgotten(world: World, role: ProcessRole) -> None:
    world.host.start(stray("stray", role))
    world.tick()
    assert world.host.running() == set()
    world.tick()
    assert world.host.list().processes == ()


@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left on device"), ValueError("its record is torn")]
)
def test_a_process_that_cannot_be_removed_does_not_stop_the_others(
    problem: Exception, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for process_id in ("stuck", "free"):
        world.host.start(stray(process_id))
    stop = type(world.host).stop

    def refused(host: InMemoryHost, process_id: str, *, grace_seconds: float) -> None:
        if process_id == "stuck":
            raise problem
        stop(host, process_id, grace_seconds=grace_seconds)

    monkeypatch.setattr(type(world.host), "stop", refused)
    world.tick()
    assert world.host.running() == {"stuck"}


def test_a_process_of_a_worker_that_is_gone_is_an_orphan(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    worker = live_workers(job)[0]
    launch = world.host.launch_of(worker)
    world.host.exit(worker, 83)
    world.tick()
    world.host.start(launch)
    world.tick()
    assert worker not in world.host.running()


def test_a_job_that_cannot_be_handled_does_not_stop_the_others(world: World) -> None:
    poison, healthy = world.job("poison"), world.job("healthy")
    world.running(poison, 1)
    Job.objects.filter(pk=poison.id).update(mode="hot")
    world.host.exit(live_workers(poison)[0], 1)
    world.wish(healthy, 1)
    logs = type(world.host).logs

    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("the log cannot be read")

    type(world.host).logs = broken  # type: ignore[method-assign,assignment] # a broken disk
    try:
        world.tick(3)
    finally:
        type(world.host).logs = logs  # type: ignore[method-assign]
    assert fresh(healthy).state == "starting"
    assert kinds(poison).count("control_loop_error") == 1
    world.tick()
    assert fresh(poison).failures == 1


def test_a_job_whose_spec_cannot_be_read_does_not_stop_the_others(world: World) -> None:
    poison, healthy = world.job("poison"), world.job("healthy")
    Job.objects.filter(pk=poison.id).update(resolved_spec={**poison.resolved_spec, "seed": "?"})
    world.wish(poison, 1)
    world.wish(healthy, 1)
    world.tick()
    assert (fresh(poison).state, fresh(healthy).state) == ("queued", "starting")


def test_a_plan_that_breaks_an_invariant_is_not_applied_and_raises_an_alarm(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    job = world.job()
    world.wish(job, 2)
    violation = Violation(rule="no_gpu_twice", message="n1:0 is used twice")
    loop = replace(world.loop(), check=lambda _state, _plan: (violation,))
    assert loop.run_once()
    assert loop.run_once()
    assert fresh(job).state == "queued"
    assert [tick.alarm for tick in Tick.objects.all()] == ["no_gpu_twice: n1:0 is used twice"]
    assert "CRITICAL" in {record.levelname for record in caplog.records}


def test_a_planner_that_fails_raises_an_alarm_and_the_rest_of_the_tick_is_done(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    job = world.job()
    world.running(job, 1)
    count = UtilisationSample.objects.count()

    def broken(_state: ClusterState) -> Plan:
        raise KeyError("no such policy")

    world.clock.advance(60)
    for _ in range(2):
        assert replace(world.loop(), planner=broken).run_once()
    alarms = [tick.alarm for tick in Tick.objects.all() if tick.alarm]
    assert alarms == ["planning failed: KeyError('no such policy')"]
    assert fresh(job).gpu_seconds > 50
    assert UtilisationSample.objects.count() > count
    assert "CRITICAL" in {record.levelname for record in caplog.records}


def test_a_tick_is_recorded_only_when_it_changed_something(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    count = Tick.objects.count()
    world.tick(3)
    assert Tick.objects.count() == count
    world.wish(job, 2)
    world.tick()
    newest = Tick.objects.first()
    assert newest is not None
    assert [decision["job_id"] for decision in newest.decisions] == [job.id]
    assert newest.decisions[0]["action"] == "rescale"
    assert newest.held == {job.id: [1, 2]}


def test_utilisation_is_sampled_for_every_team_with_a_quota(world: World) -> None:
    running, waiting = world.job("running"), world.job("waiting", elastic={"min_workers": 3})
    world.running(running, 2)
    world.clock.advance(5)
    world.tick(2)
    newest = UtilisationSample.objects.order_by("-at").values_list("at", flat=True)[0]
    rows = UtilisationSample.objects.filter(at=newest)
    sampled = {row.team.name: (row.gpus, row.guaranteed_gpus, row.waiting_gpus) for row in rows}
    assert sampled == {"vision": (2, 2, 3), "language": (0, 2, 0)}
    assert fresh(waiting).state == "queued"


def test_the_real_planner_grows_a_job_and_shrinks_it_for_another_teams_guarantee(
    world: World,
) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    vision = world.job("vision-1", batch={"global_batch_size": 32})
    coordinator = Coordinator(vision.id)
    for workers in (1, 4):
        world.clock.advance(60)  # a change has to pay for its stall
        assert loop.run_once()
        assert len(live_workers(vision)) == workers
        coordinator.train()
        coordinator.sync(total_samples=10**6, measurements=[measured(workers)])
    language = world.job("language-1", elastic={"min_workers": 2})
    Job.objects.filter(pk=language.id).update(team=Team.objects.get(name="language"))
    assert loop.run_once()
    shrinking = fresh(vision)
    assert (shrinking.state, shrinking.reason) == ("rescaling", "reclaim_guarantee")
    assert fresh(language).state == "queued"
    coordinator.train()
    for leaver in live_workers(vision)[2:]:
        world.host.exit(leaver, 83)
    assert loop.run_once()
    assert fresh(language).state == "starting"
    assert len(live_workers(vision)) == len(live_workers(language)) == 2
    assert Tick.objects.exclude(alarm="").count() == 0


def measured(workers: int) -> dict[str, float]:
    """Nearly linear speedup."""
    seconds = 0.02 + 0.4 / workers
    return {"workers": workers, "global_batch_size": 32, "steps": 50, "step_seconds": seconds}
