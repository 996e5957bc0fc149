"""Is what a tick remembers of jobs that wait made again when anything changed, and not before?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cluster.models import Pool
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tenancy.models import FairShareSettings, Team

from autoscaler.control_loop.observe.for_planner.planned import PlannedMemory
from autoscaler.control_loop.observe.for_planner.planned_job import Histories, planned_job
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.waiting import Version, WaitingMemory, memorable
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.last_said import LastSaid
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action, Decision
from autoscaler.planning.snapshot.cluster_state import Allocation
from jobs.models import Job
from tests.control_loop.conftest import World, wished

ONE_WORKER: Final = Allocation(workers_by_node=(("n1", 1),), global_batch_size=32)


def seen() -> dict[str, JobView]:
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


def test_a_job_that_starts_is_read_in_each_tick(world: World) -> None:
    job = world.job()
    world.tick()
    world.wish(job, 1)
    world.tick(2)
    assert seen()[job.id].workers != ()
    assert seen()[job.id] is not seen()[job.id]


def test_of_very_many_jobs_only_so_many_are_remembered(world: World) -> None:
    jobs = [world.job(name=f"job-{number}") for number in range(3)]
    views = [seen()[job.id] for job in jobs]
    versions: dict[str, Version] = {view.id: ["1"] for view in views}
    memory = WaitingMemory(most_characters=views[0].spec_characters * 2 + 1)
    memory.remember(views, versions)
    assert memory.unchanged(versions) == {view.id: view for view in views[:2]}
    assert memory.unchanged({views[0].id: ["2"]}) == {}


def test_a_planning_value_is_made_again_of_another_view_only(world: World) -> None:
    job = world.job()
    view = seen()[job.id]
    made = planned_job(view, Histories.of([view]), timezone.now())
    memory = PlannedMemory()
    memory.remember([view], {job.id: made})
    assert memory.made_of(view) is made
    assert memory.made_of(replace(view)) is None
    memory.remember([view], {})  # it could not be looked into
    assert memory.made_of(view) is None


def test_what_is_made_of_a_view_is_remembered_with_it_or_not_at_all(world: World) -> None:
    jobs = [world.job(name=f"job-{number}") for number in range(3)]
    views = [seen()[job.id] for job in jobs]
    assert [*memorable(views, views[0].spec_characters)] == views[:1]


def test_what_is_decided_again_for_the_same_reason_keeps_its_words() -> None:
    first, again, other = (decided(previous) for previous in (None, None, ONE_WORKER))
    said = LastSaid()
    assert said.unless_new(first) is first
    said.remember([first])
    assert said.unless_new(again) is first
    assert said.unless_new(other) is other


def decided(previous: Allocation | None) -> ExplainedDecision:
    decision = Decision(
        job_id="j1",
        action=Action.WAIT,
        allocation=None,
        previous=previous,
        reason=JobReason.FAIR_SHARE,
    )
    return ExplainedDecision(decision=decision, explanation=wished(decision), team="vision")
