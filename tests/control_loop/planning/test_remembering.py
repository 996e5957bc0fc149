"""Is what a tick remembers of jobs that wait made again when anything changed, and not before?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest
from cluster.models import Node, Pool
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tenancy.models import FairShareSettings, Team

from autoscaler.control_loop.carry_out.accounting import (
    COUNTED_SECONDS,
    MOST_COUNTED,
    CountedLately,
)
from autoscaler.control_loop.observation_budget import ObservationBudget
from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.for_planner.planned import PlannedMemory
from autoscaler.control_loop.observe.for_planner.planned_job import JobMeasurements, planned_job
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.memory import ViewMemory
from autoscaler.control_loop.observe.jobs.versions import live_versions
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.last_said import LEAST_IN_A_TICK, LastSaid
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action, Decision
from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedJob, StepTime
from jobs.changes import demand_signal
from jobs.models import Job
from tests.control_loop.coordinator import metric
from tests.control_loop.obedient_planner import wished
from tests.control_loop.world import World, fresh, live_workers

ONE_STEP: Final = StepTime(workers=1, nodes=1, global_batch_size=32, steps=10, step_seconds=0.1)
TOLD: Final = {"workers": 2, "global_batch_size": 32, "steps": 10, "step_seconds": 0.1}
ONE_WORKER: Final = Allocation(workers_by_node=(("n1", 1),), global_batch_size=32)


def seen() -> dict[str, LiveJob]:
    return {view.id: view for view in observe.live_jobs({})}


def test_a_queue_that_did_not_change_takes_one_statement(world: World) -> None:
    jobs = [world.job(name=f"job-{number}") for number in range(3)]
    before = seen()
    with CaptureQueriesContext(connection) as statements:
        after = seen()
    assert len(statements) == 1
    assert [after[job.id] is before[job.id] for job in jobs] == [True] * 3


def test_whatever_changed_is_read_again(world: World) -> None:
    job, other = world.job(name="changed"), world.job(name="as-before")
    first = seen()
    Job.objects.filter(pk=job.id).update(priority=7)
    second = seen()
    assert second[job.id].job.priority == 7
    assert second[other.id] is first[other.id]
    Team.objects.filter(pk=job.team_id).update(name="renamed")
    assert seen()[job.id].job.team.name == "renamed"
    Pool.objects.update(gpu_type="h100")
    assert seen()[job.id].job.pool.gpu_type == "h100"
    settings = FairShareSettings.objects.create(pool=job.pool, half_life_hours=1.0)
    assert seen()[job.id].job.pool.fair_share.half_life_hours == 1.0
    settings.delete()
    assert not hasattr(seen()[job.id].job.pool, "fair_share")


def test_pools_that_a_job_may_choose_are_as_they_are_now(world: World) -> None:
    """The version of its rows says nothing of them, and an admin may change any of them."""
    job = world.job(pools=["default", "fast"])
    fast = Pool.objects.create(name="fast", gpu_type="a100")
    before = seen()[job.id]
    assert [one.pk for one in before.other_pools] == [fast.pk]
    assert seen()[job.id] is before
    Pool.objects.filter(pk=fast.pk).update(gpu_type="h100")
    after = seen()[job.id]
    assert ([one.gpu_type for one in after.other_pools], after.likeness is before.likeness) == (
        ["h100"],
        False,
    )
    Pool.objects.filter(pk=fast.pk).update(name="slow")
    assert seen()[job.id].other_pools == ()
    anew = Pool.objects.create(name="fast")
    assert [one.pk for one in seen()[job.id].other_pools] == [anew.pk]


def test_pools_of_many_jobs_that_choose_take_one_statement(world: World) -> None:
    jobs = [world.job(name=f"job-{number}", pools=["default", "fast"]) for number in range(3)]
    Pool.objects.create(name="fast")
    before = seen()
    with CaptureQueriesContext(connection) as statements:
        after = seen()
    assert len(statements) == 2
    assert [after[job.id] is before[job.id] for job in jobs] == [True] * 3


def everything_in(view: LiveJob) -> dict[str, Any]:
    """By value: all that anybody could read of it."""
    rows = [view.job, view.assignment, view.generation, *(worker.row for worker in view.workers)]
    return {
        "rows": [
            {name: value for name, value in vars(row).items() if not name.startswith("_")}
            for row in rows
            if row is not None
        ],
        "spec": view.spec,
        "processes": [view.coordinator, *(worker.process for worker in view.workers)],
        "silent": [worker.node.silent_since for worker in view.workers],
    }


def test_of_a_job_that_trains_no_more_is_read_than_what_moves(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    before = seen()[job.id]
    coordinator.sync(metrics=[metric(1, 50)])
    with CaptureQueriesContext(connection) as statements:
        after = seen()[job.id]
    assert len(statements) == 1
    assert after.likeness is before.likeness
    assert after.job.step == 50 != before.job.step
    assert seen()[job.id] is after


CHANGES: Final[dict[str, Callable[[World, Job], object]]] = {
    "the job": lambda _, job: Job.objects.filter(pk=job.id).update(failures=2),
    "its spec": lambda _, job: Job.objects.filter(pk=job.id).update(
        resolved_spec={**job.resolved_spec, "priority": 60}
    ),
    "a worker": lambda _, job: job.workers.update(is_straggler=True),
    "its workers": lambda _, job: job.workers.order_by("id")[0].delete(),
    "its assignment": lambda _, job: job.assignments.update(message="otherwise"),
    "its generation": lambda _, job: job.generations.update(ended_at=timezone.now()),
    "a node": lambda *_: Node.objects.update(silent_since=timezone.now()),
    "a process": lambda world, job: world.host.exit(live_workers(job)[0], 1),
    "its coordinator": lambda world, job: world.host.exit(f"{job.id}-coordinator", 1),
    "how far it is": lambda _, job: Job.objects.filter(pk=job.id).update(gpu_seconds=7.0),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda name: name.replace(" ", "_"))
def test_whatever_changes_of_a_job_that_trains_is_seen(world: World, change: str) -> None:
    job = world.job()
    world.running(job, 2)
    job = fresh(job)

    def looked_at() -> dict[str, Any]:
        processes = world.host.list().by_id()
        (view,) = observe.live_jobs(processes)
        (anew,) = observe.job_views([job.id], processes)
        assert everything_in(view) == everything_in(anew)
        return everything_in(view)

    before = looked_at()
    assert looked_at() == before
    CHANGES[change](world, job)
    assert looked_at() != before


def test_of_very_many_jobs_only_so_many_are_remembered(world: World) -> None:
    jobs = [world.job(name=f"job-{number}") for number in range(3)]
    views = [seen()[job.id] for job in jobs]
    versions = {view.id: live_versions()[view.id] for view in views}
    memory = ViewMemory(most_characters=views[0].spec_characters * 2 + 1)
    memory.remember(views, versions)
    assert memory.unchanged(versions, {}) == {view.id: view for view in views[:2]}
    other = {views[0].id: replace(versions[views[0].id], rows=())}
    assert memory.unchanged(other, {}) == {}


def test_a_planning_value_is_made_again_where_anything_is_different(world: World) -> None:
    job = world.job()
    view, now = seen()[job.id], timezone.now()
    memory = PlannedMemory()

    def planned(view: LiveJob, past: JobMeasurements) -> PlannedJob:
        made = memory.planned(view, past, now)
        memory.forget_all_but([view])
        assert made == planned_job(view, past, now)
        return made

    first = planned(view, JobMeasurements())
    assert planned(view, JobMeasurements()) is first
    measured = JobMeasurements(measurements=(ONE_STEP,))
    assert planned(view, measured).scaling is not None
    Job.objects.filter(pk=job.id).update(samples=7, total_samples=10)
    assert planned(seen()[job.id], measured).remaining_samples == 3
    Job.objects.filter(pk=job.id).update(priority=7)
    assert planned(seen()[job.id], measured).priority == 7


def test_where_time_is_up_jobs_stay_as_they_were_seen_last_or_where_they_stand(
    world: World,
) -> None:
    older = world.job("older")
    world.clock.advance(1.0)
    newer = world.job("newer")
    coordinators = [world.running(job, 2) for job in (older, newer)]
    for coordinator in coordinators:
        coordinator.sync(measurements=[TOLD])
    now = timezone.now()

    def looked_at(looks: int) -> tuple[set[str], Mapping[str, PlannedJob]]:
        seconds = count()
        time = ObservationBudget(seconds=looks + 1, clock=lambda: next(seconds))
        found = cluster_state(seen().values(), now, time=time)
        return set(found.put_off), {job.job_id: job for job in found.state.jobs}

    as_they_are = looked_at(2)[1]
    Job.objects.update(priority=7)
    put_off, jobs = looked_at(1)
    assert put_off == {older.id}
    assert jobs[newer.id] == replace(as_they_are[newer.id], priority=7)
    still = jobs[older.id]
    assert (still.allocation.workers, still.can_rescale, still.can_pause) == (2, False, False)
    assert looked_at(1)[0] == set()
    for coordinator in coordinators:
        coordinator.sync(measurements=[{**TOLD, "step_seconds": 0.4}], metrics=[metric(1, 50)])
    is_known = [looked_at(looks) for looks in (0, 1, 1)]
    assert [put_off for put_off, _ in is_known] == [set()] * 3
    assert [
        [jobs[job.id].scaling != as_they_are[job.id].scaling for job in (older, newer)]
        for _, jobs in is_known
    ] == [[False, False], [False, True], [True, True]]


def test_a_tick_begins_with_what_the_last_one_had_no_time_for(
    world: World, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    job = world.job()
    world.wish(job, 2)

    def asks_for_another(**changes: float) -> bool:
        with django_capture_on_commit_callbacks() as hooks:
            assert replace(world.loop(), **changes).run_once()
        return demand_signal.__name__ in {hook.__module__ for hook in hooks}

    assert asks_for_another(observation_seconds=0.0)
    assert (fresh(job).state, fresh(job).explanation) == ("queued", {})
    assert not asks_for_another()
    assert fresh(job).state == "starting"


def test_what_is_decided_again_for_the_same_reason_keeps_its_words(world: World) -> None:
    world.job()
    (view,) = seen().values()
    was = (None, None, ONE_WORKER)
    first, again, other = (decided(previous, job_id=view.id) for previous in was)
    said = LastSaid()
    assert said.unless_new(first) is first
    said.remember([(first, view)], going_on=())
    assert said.unless_new(again) is first
    assert said.unless_new(other) is other


def test_jobs_that_go_on_are_told_anew_in_turn(world: World) -> None:
    world.job()
    (view,) = seen().values()
    count = 2 * LEAST_IN_A_TICK
    made = [decided(ONE_WORKER, job_id=f"j{n}", action=Action.KEEP) for n in range(count)]
    views = {one.job_id: replace(view, job=Job(id=one.job_id)) for one in made}
    said, told = LastSaid(), list[str]()
    said.remember(((one, views[one.job_id]) for one in made), going_on=())
    for _ in range(2):
        going_on = [one.decision for one in made if said.goes_on(one.decision, views[one.job_id])]
        assert len(going_on) == count
        turn = {one.job_id for one in said.whose_turn_it_is(going_on)}
        told += sorted(turn)
        again = [(one, views[one.job_id]) for one in made if one.job_id in turn]
        said.remember(again, going_on=[one.job_id for one in made])
    assert sorted(told) == sorted(views)


def test_a_job_does_not_go_on_that_is_another_or_has_something_else_decided(world: World) -> None:
    world.job()
    (view,) = seen().values()
    kept = decided(ONE_WORKER, job_id=view.id, action=Action.KEEP)
    other = decided(None, job_id=view.id, action=Action.KEEP)
    said = LastSaid()
    said.remember([(kept, view)], going_on=())
    assert said.goes_on(kept.decision, view)
    assert not said.goes_on(other.decision, view)
    assert not said.goes_on(kept.decision, replace(view, likeness=object()))
    said.remember([], going_on=())
    assert not said.goes_on(kept.decision, view)


def test_gpu_time_is_counted_every_half_minute() -> None:
    counted, now = CountedLately(), timezone.now()
    later = now + timedelta(seconds=COUNTED_SECONDS)
    assert counted.due(["j1"], now) == ["j1"]
    assert counted.due(["j1", "j2"], now + timedelta(seconds=5)) == ["j2"]
    assert counted.due(["j1", "j2"], later) == ["j1"]
    assert counted.due(["j1", "j2"], now - timedelta(hours=1)) == ["j2", "j1"]


def test_of_many_jobs_gpu_time_is_counted_in_turns() -> None:
    counted, now = CountedLately(), timezone.now()
    jobs = [f"j{number}" for number in range(MOST_COUNTED + 10)]
    assert counted.due(jobs, now) == jobs[:MOST_COUNTED]
    assert counted.due(jobs, now + timedelta(seconds=5)) == jobs[MOST_COUNTED:]
    assert counted.due(jobs, now + timedelta(seconds=COUNTED_SECONDS)) == jobs[:MOST_COUNTED]


def decided(
    previous: Allocation | None, *, job_id: str = "j1", action: Action = Action.WAIT
) -> ExplainedDecision:
    decision = Decision(
        job_id=job_id,
        action=action,
        allocation=None,
        previous=previous,
        reason=JobReason.FAIR_SHARE,
    )
    return ExplainedDecision(decision=decision, explanation=wished(decision), team="vision")
