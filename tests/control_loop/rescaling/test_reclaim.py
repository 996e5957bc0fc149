"""Do lent GPUs come back in the pool's time, however patient the borrower's spec is?"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Pool
from tenancy.models import FairShareSettings, Quota, Team

from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from jobs.commands.control import pause
from jobs.models import Event, Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers

PATIENT = {"grace_period": "1h", "registration_timeout": "1h"}
RECLAIM = 20.0


@pytest.fixture
def pool_time(world: World) -> float:
    FairShareSettings.objects.create(pool=Pool.objects.get(), reclaim_seconds=RECLAIM)
    return RECLAIM


def tick(world: World) -> None:
    assert replace(world.loop(), planner=planner.plan, check=invariants.check).run_once()


def a_borrower(world: World, **elastic: Any) -> tuple[Job, Coordinator]:
    """A job of vision, guaranteed 2, that holds all 4 GPUs and does not listen to anybody."""
    sizes = {"min_workers": 4, "max_workers": 4, **PATIENT, **elastic}
    job = world.job("borrower", elastic=sizes, batch={"global_batch_size": 32})
    coordinator = world.running(job, 4)
    world.host.deaf.update(live_workers(job))
    return job, coordinator


def a_claimant(world: World) -> Job:
    job = world.job("claimant", elastic={"min_workers": 2}, batch={"global_batch_size": 32})
    Job.objects.filter(pk=job.pk).update(team=Team.objects.get(name="language"))
    return job


@pytest.mark.parametrize("mode", ["hot", "restart"])
def test_a_borrower_that_does_not_leave_is_ended_in_the_pools_time(
    world: World, pool_time: float, mode: str
) -> None:
    borrower, _ = a_borrower(world)
    Job.objects.filter(pk=borrower.pk).update(mode=mode)
    claimant = a_claimant(world)
    tick(world)
    assert (fresh(borrower).state, fresh(borrower).reason) == ("stopping", "reclaim_guarantee")
    assert Event.objects.get(job=borrower, new_state="stopping").data == {"gives_way": True}
    world.clock.advance(pool_time - 6)
    tick(world)
    assert len(live_workers(borrower)) == 4
    for _ in range(4):
        world.clock.advance(3)
        tick(world)
    assert live_workers(borrower) == []
    assert fresh(claimant).state == "starting"


def test_without_a_claim_a_job_has_the_time_it_asked_for(world: World, pool_time: float) -> None:
    borrower, _ = a_borrower(world)
    pause(job_id=borrower.id, actor="ada", reason="")
    for _ in range(4):
        tick(world)
        world.clock.advance(60)
    assert len(live_workers(borrower)) == 4


def test_a_borrower_that_is_paused_by_its_own_user_gives_back_in_the_pools_time_of_a_claim(
    world: World, pool_time: float
) -> None:
    """Whoever pauses a job that ignores it must not keep what others are guaranteed."""
    borrower, _ = a_borrower(world)
    pause(job_id=borrower.id, actor="ada", reason="")
    world.clock.advance(300)
    tick(world)
    claimant = a_claimant(world)
    Job.objects.filter(pk=claimant.pk).update(submitted_at=world.clock())
    world.clock.advance(pool_time - 6)
    tick(world)
    assert len(live_workers(borrower)) == 4
    for _ in range(4):
        world.clock.advance(3)
        tick(world)
    assert live_workers(borrower) == []


@pytest.mark.parametrize("wants_nothing_because", ["back-off", "size"])
def test_who_waits_out_a_back_off_or_never_fits_claims_nothing(
    world: World, pool_time: float, wants_nothing_because: str
) -> None:
    borrower, _ = a_borrower(world)
    pause(job_id=borrower.id, actor="ada", reason="")
    claimant = a_claimant(world)
    if wants_nothing_because == "back-off":
        later = world.clock() + timedelta(hours=1)
        Job.objects.filter(pk=claimant.pk).update(not_before=later)
    else:
        spec = claimant.resolved_spec
        elastic = {**spec["elastic"], "min_workers": 5, "max_workers": 5}
        Job.objects.filter(pk=claimant.pk).update(resolved_spec={**spec, "elastic": elastic})
    for _ in range(4):
        tick(world)
        world.clock.advance(60)
    assert len(live_workers(borrower)) == 4


def test_within_its_own_guarantee_a_job_has_the_time_it_asked_for(
    world: World, pool_time: float
) -> None:
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=4)
    Quota.objects.filter(team__name="language").update(guaranteed_gpus=2)
    borrower, _ = a_borrower(world)
    pause(job_id=borrower.id, actor="ada", reason="")
    a_claimant(world)
    for _ in range(4):
        tick(world)
        world.clock.advance(60)
    assert len(live_workers(borrower)) == 4


def test_a_borrower_that_never_registers_is_paused_for_a_claim_in_the_pools_time(
    world: World, pool_time: float
) -> None:
    sizes = {"min_workers": 4, "max_workers": 4, "mode": "hot", **PATIENT}
    borrower = world.job("borrower", elastic=sizes, batch={"global_batch_size": 32})
    world.wish(borrower, 4)
    world.tick()
    world.host.deaf.update(live_workers(borrower))
    claimant = a_claimant(world)
    tick(world)
    assert fresh(borrower).state == "starting"
    world.clock.advance(pool_time)
    tick(world)
    assert (fresh(borrower).state, fresh(borrower).reason) == ("stopping", "reclaim_guarantee")
    for _ in range(3):
        world.clock.advance(pool_time / 2)
        tick(world)
    assert fresh(claimant).state == "starting"


def test_a_worker_that_is_late_to_join_a_borrower_is_dropped_for_a_claim(
    world: World, pool_time: float
) -> None:
    sizes = {"min_workers": 1, "max_workers": 4, **PATIENT}
    borrower = world.job("borrower", elastic=sizes, batch={"global_batch_size": 32})
    coordinator = world.running(borrower, 2)
    world.wish(borrower, 4)
    world.tick()
    assert len(live_workers(borrower)) == 4
    a_claimant(world)
    world.clock.advance(pool_time - 6)
    coordinator.sync()
    world.tick()
    assert len(fresh(borrower).assignments.latest("revision").worker_ids) == 4
    world.clock.advance(10)
    coordinator.sync()
    world.tick()
    newest = fresh(borrower).assignments.latest("revision")
    assert len(newest.worker_ids) == 2
    assert "another team claims" in newest.message
