"""Is a job left out whose data make planning fail, and are all the others planned?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from cluster.models import Node, Pool, UtilisationSample
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tenancy.models import Team

from autoscaler.control_loop.models import Tick
from autoscaler.control_loop.observe.for_planner import cluster_view
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.decisions.explanation import Explanation
from autoscaler.planning.decisions.invariants import Violation
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, JobPhase
from autoscaler.predictions import live_jobs
from autoscaler.simulation.engine.prediction.prediction import Effort, predict
from jobs.commands import quarantine
from jobs.commands.control import cancel
from jobs.commands.quarantine import Part
from jobs.models import Event, Job, Quarantine
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, kinds, live_workers

SECRET = "a number of another kind"
QUICK = Effort(planned_jobs=1_000)


class BadData(Exception):
    """What a planner meets in a job's data."""


@dataclass
class Touchy:
    """The real planner, which fails if it has to look into one of these jobs."""

    poison: set[str] = field(default_factory=set)
    plans: int = 0

    def __call__(self, state: ClusterState) -> Plan:
        self.plans += 1
        for job in state.jobs:
            is_looked_into = job.phase is JobPhase.WAITING or job.can_rescale
            if job.job_id in self.poison and is_looked_into:
                raise BadData(SECRET)
        return planner.plan(state)


def tick(world: World, planned_by: Callable[[ClusterState], Plan], **changes: Any) -> None:
    loop = replace(world.loop(), planner=planned_by, check=invariants.check)
    assert replace(loop, **changes).run_once()


def of_language(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(team=Team.objects.get(name="language"))
    return fresh(job)


def errors(job: Job) -> list[str]:
    return list(Quarantine.objects.filter(job=job).values_list("error", flat=True))


def test_a_waiting_job_that_makes_the_planner_fail_stops_nobody_else(world: World) -> None:
    poison, healthy = world.job("poison"), of_language(world.job("healthy"))
    tick(world, Touchy({poison.id}))
    assert (fresh(poison).state, fresh(healthy).state) == ("queued", "starting")
    assert fresh(poison).reason == "planning_failed"
    assert "left out of plans" in fresh(poison).message
    assert kinds(poison) == ["planning_failed"]
    assert errors(poison) == [f"BadData({SECRET!r})"]
    assert quarantine.count() == 1


def test_the_team_does_not_read_the_error_itself(world: World) -> None:
    poison = world.job("poison")
    tick(world, Touchy({poison.id}))
    told = [fresh(poison).message, *Event.objects.values_list("message", flat=True)]
    assert not any(SECRET in one for one in told)


def test_it_is_tried_again_later_after_every_failure_and_planned_when_nothing_fails(
    world: World,
) -> None:
    poison = world.job("poison")
    touchy = Touchy({poison.id})
    tick(world, touchy)
    plans = touchy.plans
    tick(world, touchy)
    assert touchy.plans == plans + 1  # without it, nothing fails
    world.clock.advance(11)
    tick(world, touchy)
    row = Quarantine.objects.get(job=poison)
    assert row.failures == 2
    assert 19 < (row.retry_at - world.clock()).total_seconds() <= 20
    assert kinds(poison).count("planning_failed") == 1
    touchy.poison.clear()
    world.clock.advance(21)
    tick(world, touchy)
    assert not Quarantine.objects.exists()
    assert kinds(poison)[1:2] == ["planned_again"]
    assert fresh(poison).state == "starting"


def test_one_that_fails_on_and_off_is_tried_ever_later(world: World) -> None:
    """Else each failure and each recovery would add an event, thousands a day."""
    flapping, now = world.job("flapping"), timezone.now()
    delays = []
    for _ in range(4):
        failing = {flapping.id: BadData(SECRET)}
        quarantine.update(Part.PLANNING, failing=failing, healed=(), now=now)
        delays.append((Quarantine.objects.get().retry_at - now).total_seconds())
        quarantine.update(Part.PLANNING, failing={}, healed=[flapping.id], now=now)
    assert delays == [10, 20, 40, 80]
    later = now + 2 * quarantine.REMEMBERED
    quarantine.update(Part.PLANNING, failing=failing, healed=(), now=later)
    assert Quarantine.objects.get().failures == 1


def test_a_running_job_that_cannot_be_planned_keeps_its_gpus_and_counts_for_its_team(
    make_world: Callable[..., World], db: None
) -> None:
    world = make_world(nodes=(4,), vision=2, language=2)
    poison = world.job("poison", elastic={"min_workers": 3, "max_workers": 3})
    world.running(poison, 3)
    healthy = of_language(world.job("healthy", elastic={"max_workers": 2}))
    touchy = Touchy({poison.id})
    for _ in range(3):
        tick(world, touchy)
    assert len(live_workers(poison)) == 3
    assert (fresh(poison).state, fresh(poison).reason) == ("running", "planning_failed")
    assert "keeps its GPUs" in fresh(poison).message
    assert len(live_workers(healthy)) == 1


def test_a_running_job_that_cannot_be_planned_gives_back_what_another_team_is_guaranteed(
    world: World,
) -> None:
    """Else whoever breaks a job of their own would keep what is lent for ever."""
    poison = world.job("poison", elastic={"min_workers": 3, "max_workers": 3})
    world.running(poison, 3)
    waiting = of_language(
        world.job("waiting", elastic={"min_workers": 2}, batch={"global_batch_size": 32})
    )
    touchy = Touchy({poison.id})
    tick(world, touchy)
    tick(world, touchy)
    assert (fresh(poison).state, fresh(poison).reason) == ("stopping", "reclaim_guarantee")
    assert fresh(waiting).state == "queued"


def test_a_job_that_cannot_be_looked_into_is_left_out_with_what_it_holds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison = world.job("poison")
    world.running(poison, 2)
    healthy = of_language(world.job("healthy"))
    usual = cluster_view.with_straggler

    def with_straggler(job: Any, *seen: Any) -> Any:
        if job.job_id == poison.id:
            raise OverflowError(SECRET)
        return usual(job, *seen)

    monkeypatch.setattr(cluster_view, "with_straggler", with_straggler)
    tick(world, planner.plan)
    assert fresh(poison).reason == "planning_failed"
    assert (len(live_workers(poison)), fresh(healthy).state) == (2, "starting")
    assert errors(poison) == [f"OverflowError({SECRET!r})"]


def test_a_running_job_whose_spec_cannot_be_read_is_looked_after_and_can_be_ended(
    world: World,
) -> None:
    poison = world.job("poison")
    world.running(poison, 2)
    broken = {**poison.resolved_spec, "seed": "?", "resources": "many"}
    Job.objects.filter(pk=poison.id).update(resolved_spec=broken)
    healthy = of_language(world.job("healthy", elastic={"min_workers": 2}))
    tick(world, planner.plan)
    assert fresh(poison).reason == "planning_failed"
    assert errors(poison) == ["SpecUnreadable('resources, seed')"]
    assert "fields of its spec cannot be read any more: resources, seed." in fresh(poison).message
    assert (len(live_workers(poison)), len(live_workers(healthy))) == (2, 2)
    cancel(job_id=poison.id, actor="ada", reason="")
    for _ in range(4):
        world.clock.advance(60)
        tick(world, planner.plan)
    assert fresh(poison).state == "cancelled"
    Job.objects.filter(pk=poison.id).update(resolved_spec=poison.resolved_spec)


def test_a_job_whose_decision_breaks_an_invariant_is_left_out(world: World) -> None:
    poison, healthy = world.job("poison"), of_language(world.job("healthy"))

    def check(_state: ClusterState, plan: Plan) -> tuple[Violation, ...]:
        bad = [one for one in plan.decisions if one.job_id == poison.id]
        return tuple(Violation(rule="too_bad", message="poison") for _ in bad)

    tick(world, planner.plan, check=check)
    assert (fresh(poison).reason, fresh(healthy).state) == ("planning_failed", "starting")
    assert errors(poison) == ["PlanRefused('too_bad: poison')"]


def test_a_job_whose_decision_cannot_be_explained_is_left_out(world: World) -> None:
    poison, healthy = world.job("poison"), of_language(world.job("healthy"))

    def plan(state: ClusterState) -> Plan:
        made = planner.plan(state)
        return replace(made, explanations=_Speechless(made.explanations, poison.id))

    tick(world, plan)
    assert (fresh(poison).state, fresh(poison).reason) == ("queued", "planning_failed")
    assert fresh(healthy).state == "starting"


class _Speechless(Mapping[str, Explanation]):
    """Explanations of all jobs but one."""

    def __init__(self, usual: Mapping[str, Explanation], poison: str) -> None:
        self._usual, self._poison = usual, poison

    def __getitem__(self, job_id: str) -> Explanation:
        if job_id == self._poison:
            raise BadData(SECRET)
        return self._usual[job_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._usual)

    def __len__(self) -> int:
        return len(self._usual)


def test_a_pool_that_cannot_be_planned_says_since_when_and_the_others_are_planned(
    world: World,
) -> None:
    here, there = world.job("here"), world.job("there")
    other = Pool.objects.create(name="other")
    Node.objects.create(pool=other, name="o1", gpus=2)
    Job.objects.filter(pk=there.pk).update(pool=other)

    def plan(state: ClusterState) -> Plan:
        if any(pool.name == "default" for pool in state.pools):
            raise KeyError("of the pool")
        return planner.plan(state)

    tick(world, plan)
    since = Pool.objects.get(name="default").unplanned_since
    assert (fresh(here).state, fresh(there).state) == ("queued", "starting")
    assert fresh(here).reason != "planning_failed"
    tick(world, plan)
    pool = Pool.objects.get(name="default")
    assert since is not None
    assert (pool.unplanned_since, pool.unplanned_because) == (
        since,
        "planning failed: KeyError('of the pool')",
    )
    (alarm,) = Tick.objects.exclude(alarm="").values_list("alarm", flat=True)
    assert alarm == "pool default: planning failed: KeyError('of the pool')"
    assert Pool.objects.get(name="other").unplanned_since is None
    tick(world, planner.plan)
    assert Pool.objects.get(name="default").unplanned_since is None
    assert fresh(here).state == "starting"


def test_gpu_time_is_counted_though_nothing_can_be_observed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.job()
    world.running(job, 1)
    samples = UtilisationSample.objects.count()

    def team_quotas() -> Any:
        raise ZeroDivisionError("of a team")

    monkeypatch.setattr(cluster_view, "team_quotas", team_quotas)
    world.clock.advance(60)
    world.tick()
    assert fresh(job).gpu_seconds > 50
    assert UtilisationSample.objects.count() > samples
    assert "ZeroDivisionError" in Pool.objects.get().unplanned_because


def test_more_jobs_cost_a_tick_no_more_statements_to_plan(world: World) -> None:
    def statements() -> int:
        for _ in range(3):  # until nothing is changed any more
            tick(world, planner.plan)
        with CaptureQueriesContext(connection) as captured:
            tick(world, planner.plan)
        return len(captured)

    world.running(world.job("holder", elastic={"min_workers": 4}), 4)
    for number in range(2):
        world.job(f"few-{number}")
    few = statements()
    for number in range(8):
        world.job(f"many-{number}")
    assert statements() == few


def test_a_job_that_makes_predictions_fail_is_left_out_of_them_and_is_planned(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison, healthy = world.job("poison"), world.job("healthy")
    asked: list[set[str]] = []

    def predict_some(state: ClusterState, **options: Any) -> Any:
        asked.append({job.job_id for job in state.jobs})
        if poison.id in asked[-1]:
            raise OverflowError(SECRET)
        return predict(state, **options)

    monkeypatch.setattr(live_jobs, "predict", predict_some)
    now = timezone.now()
    assert live_jobs.predict_live_jobs(now, effort=QUICK) == 1
    assert fresh(healthy).prediction
    assert Quarantine.objects.get(job=poison).part == "prediction"
    assert quarantine.count() == 0  # of planning
    asked.clear()
    assert live_jobs.predict_live_jobs(now, effort=QUICK) == 1
    assert asked == [{healthy.id}]
    tick(world, planner.plan)
    assert fresh(poison).reason != "planning_failed"


def test_a_job_of_the_past_that_cannot_be_read_spoils_no_prediction(world: World) -> None:
    past, job = world.job("past"), world.job("job")
    now = timezone.now()
    Job.objects.filter(pk=past.pk).update(
        state="completed", started_at=now, finished_at=now, samples=10, resolved_spec={"x": 1}
    )
    assert live_jobs.predict_live_jobs(now, effort=QUICK) == 1
    assert fresh(job).prediction
    Job.objects.filter(pk=past.pk).update(resolved_spec=past.resolved_spec)


def test_an_action_that_only_stands_still_is_not_written_on_the_job(world: World) -> None:
    poison = world.job("poison")
    coordinator: Coordinator = world.running(poison, 1)
    touchy = Touchy({poison.id})
    tick(world, touchy)
    coordinator.sync()
    tick(world, touchy)
    assert fresh(poison).explanation == {}
    assert {one["action"] for t in Tick.objects.all() for one in t.decisions} <= {Action.START}
