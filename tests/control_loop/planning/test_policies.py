"""Do pools' policies and jobs' wishes reach the planner, and what it says of them the jobs?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar

import pytest
from cluster.models import Pool
from django.utils import timezone
from tenancy.models import Quota

from autoscaler.control_loop.models import Tick
from autoscaler.control_loop.observe.for_planner import pool_view
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.policies import BUILT_IN, Objective, Policy, Situation
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.job_terms import Utility
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from concertina_worker.protocol import MemberPhase
from jobs.models import Event, Job, Measurement
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers

QUEUE = {"metric": "queue_length", "grow_above": 100.0, "shrink_below": 10.0}


def set_pool(**fields: Any) -> None:
    Pool.objects.update(**fields)


def plan_really(world: World) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    assert loop.run_once()


def measure(job: Job) -> None:
    """Its speed with one worker becomes known."""
    Measurement.objects.create(
        job=job,
        gpu_type=job.pool.gpu_type,
        workers=1,
        global_batch_size=64,
        steps=50,
        step_seconds=0.5,
    )


def log(job: Job, coordinator: Coordinator, **values: float) -> None:
    """Its script logs these values, in its present generation."""
    point = {
        "at": timezone.now().timestamp(),
        "generation": fresh(job).generation,
        "step": 100,
        "samples": 6400,
        "values": values,
    }
    coordinator.sync(dict.fromkeys(live_workers(job), MemberPhase.TRAINING), metrics=[point])


def test_the_snapshot_has_what_an_admin_chose_for_a_pool(world: World) -> None:
    set_pool(
        policy="scaling_efficiency",
        policy_options={"threshold": 0.3},
        admission="dropping",
        dollars_per_gpu_hour=2.5,
        gpu_type="h100",
    )
    world.tick()
    (pool,) = world.planner.seen[-1].pools
    assert pool.policy == "scaling_efficiency:threshold=0.3"
    assert pool.admission is AdmissionVariant.DROPPING
    assert (pool.dollars_per_gpu_hour, pool.gpu_type) == (2.5, "h100")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stumbling(Policy):
    """An extension with a mistake that only planning finds."""

    name: ClassVar = "stumbling"
    summary: ClassVar = "fails while planning"

    def objective(self, situation: Situation) -> Objective:
        raise ZeroDivisionError(f"{len(situation.demands)} jobs")


def test_where_an_extension_fails_while_planning_the_default_policy_plans_and_an_alarm_is_raised(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = BUILT_IN.joined([Stumbling])
    monkeypatch.setattr(pool_view, "installed_policies", lambda: policies)
    set_pool(policy="stumbling")
    job = world.job()
    loop = replace(
        world.loop(),
        planner=partial(planner.plan, policies=policies),
        check=partial(invariants.check, policies=policies),
    )
    assert loop.run_once()
    assert loop.run_once()
    assert fresh(job).state == "starting"
    (alarm,) = Tick.objects.exclude(alarm="").values_list("alarm", flat=True)
    assert alarm == (
        "planned by completion_time instead of policies of extensions:"
        " planning failed: ZeroDivisionError('1 jobs')"
    )


def test_the_snapshot_has_what_a_job_wishes(world: World) -> None:
    job = world.job(
        elastic={"requested_workers": 3, "scale_on": QUEUE},
        deadline="2030-01-01T08:00:00+02:00",
        utility=[{"after": "1h", "dollars": 50}, {"after": "2h", "dollars": 0.0}],
    )
    world.tick()
    seen = world.planner.job(job)
    assert seen.requested_workers == 3
    assert seen.deadline == datetime(2030, 1, 1, 6, tzinfo=UTC).timestamp()
    assert seen.utility == Utility(points=((3600.0, 50.0), (7200.0, 0.0)))
    assert seen.scale_on == planning.MetricTarget(
        metric="queue_length", grow_above=100.0, shrink_below=10.0
    )


def test_a_job_without_wishes_has_none(world: World) -> None:
    job = world.job()
    world.tick()
    seen = world.planner.job(job)
    assert (seen.deadline, seen.utility, seen.requested_workers) == (None, None, None)
    assert (seen.scale_on, seen.reported) == (None, ())


def test_metrics_are_of_the_present_generation(world: World) -> None:
    job = world.job(elastic={"scale_on": QUEUE})
    coordinator = world.running(job, 1)
    log(job, coordinator, queue_length=120.0, loss=0.5)
    world.tick()
    assert world.planner.job(job).reported == (("loss", 0.5), ("queue_length", 120.0))
    world.wish(job, 2)
    world.tick()
    coordinator.train()
    world.tick()
    assert world.planner.job(job).reported == ()


def test_a_job_grows_because_its_own_metric_says_so(world: World) -> None:
    job = world.job(elastic={"scale_on": QUEUE})
    coordinator = world.running(job, 1)
    measure(job)
    log(job, coordinator, queue_length=120.0)
    plan_really(world)
    explained = fresh(job).explanation
    assert (explained["action"], explained["workers"]) == ("rescale", 2)
    assert explained["reason"] == "application_metric"
    assert "its queue_length of 120 is above 100" in explained["message"]


def test_where_jobs_are_dropped_one_that_does_not_fit_fails_and_says_why(world: World) -> None:
    set_pool(admission="dropping")
    Quota.objects.all().delete()
    first, second = world.job("first", elastic={"min_workers": 4}), world.job("second")
    plan_really(world)
    assert fresh(first).state == "starting"
    dropped = fresh(second)
    assert (dropped.state, dropped.reason) == ("failed", "dropped")
    assert dropped.message.startswith("Refused: it needs 1 GPU at least, and pool default drops")
    assert dropped.finished_at is not None
    plan_really(world)
    assert fresh(second).state == "failed"


def test_where_jobs_queue_the_same_job_waits(world: World) -> None:
    Quota.objects.all().delete()
    world.job("first", elastic={"min_workers": 4})
    second = world.job("second")
    plan_really(world)
    assert fresh(second).state == "queued"


def test_a_policy_that_is_not_installed_any_more_is_replaced_and_told_of(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    set_pool(policy="gone", policy_options={"x": 1})
    world.tick()
    assert world.planner.seen[-1].pools[0].policy == "completion_time"
    assert "There is no policy 'gone'" in caplog.text


def test_a_deadline_in_danger_is_told_once(world: World) -> None:
    deadline = timezone.now() + timedelta(minutes=10)
    job = world.job(elastic={"max_workers": 1}, deadline=deadline.isoformat())
    world.running(job, 1)
    measure(job)
    Job.objects.filter(pk=job.id).update(total_samples=10**6)
    plan_really(world)
    plan_really(world)
    (event,) = Event.objects.filter(job=job, kind="deadline_at_risk")
    assert event.message.startswith("Is predicted to end at ")
    assert event.message.endswith("UTC, too late.")
    assert fresh(job).explanation["deadline_warning"]["is_out_of_reach"]
