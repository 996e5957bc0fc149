"""Does a job of several pools start or wait in the one that was chosen, and is it counted there?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cluster.models import Node, Pool
from django.db.models import F
from tenancy.models import Quota, Team

from autoscaler.gpu_accounts.models import AccountedJob
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.models import GpuClaim, Job
from tests.control_loop.world import World, fresh


def in_both(world: World, *, gpus: int, **spec: Any) -> tuple[Job, Pool]:
    """A job that is in the pool of the world and may be in a second one, which has a node."""
    home = Pool.objects.get()
    job = world.job(pools=[home.name, "fast"], **spec)
    fast = Pool.objects.create(name="fast", gpu_type="h100")
    Node.objects.create(name="fast-1", pool=fast, gpus=gpus)
    return job, fast


def tick(world: World) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    assert loop.run_once()


def test_it_starts_where_there_is_room(world: World) -> None:
    job, fast = in_both(world, gpus=4)
    Node.objects.exclude(pool=fast).update(is_schedulable=False)
    tick(world)
    started = fresh(job)
    assert (started.state, started.pool) == ("starting", fast)
    assert {claim.node.name for claim in GpuClaim.objects.filter(worker__job=job)} == {"fast-1"}
    assert "fast (chosen)" in started.message
    assert started.explanation["explanation"]["pools"][0]["pool"] == "fast"
    tick(world)
    assert set(AccountedJob.objects.filter(job=job.id).values_list("pool", flat=True)) == {"fast"}


def test_it_waits_where_it_can_start_some_day(world: World) -> None:
    """No node of its own pool is large enough; those of the other one take nothing new."""
    job, fast = in_both(world, gpus=4, resources={"gpus_per_worker": 3})
    Node.objects.exclude(pool=fast).update(gpus=2)
    Node.objects.filter(pool=fast).update(is_schedulable=False)
    tick(world)
    waits = fresh(job)
    assert (waits.state, waits.pool) == ("queued", fast)
    assert waits.explanation["explanation"]["pool"] == "fast"
    tick(world)
    assert fresh(job).pool == fast
    Node.objects.filter(pool=fast).update(is_schedulable=True)
    tick(world)
    assert (fresh(job).state, fresh(job).pool) == ("starting", fast)


def test_it_starts_in_a_pool_that_was_made_anew_under_its_name(world: World) -> None:
    job, fast = in_both(world, gpus=4)
    Node.objects.update(is_schedulable=False)
    tick(world)
    Node.objects.filter(pool=fast).delete()
    fast.delete()
    anew = Pool.objects.create(name="fast")
    Node.objects.create(name="fast-2", pool=anew, gpus=4)
    tick(world)
    assert (fresh(job).state, fresh(job).pool) == ("starting", anew)


def test_it_is_not_refused_for_good_by_a_pool_that_it_was_taken_out_of_meanwhile(
    world: World,
) -> None:
    """Its people change its pools while a plan is made that refuses it."""
    job, fast = in_both(world, gpus=4)
    Pool.objects.exclude(pk=fast.pk).update(admission="dropping")
    Node.objects.exclude(pool=fast).update(is_schedulable=False)
    spec = {**job.resolved_spec, "pool": "default", "pools": None}
    Job.objects.filter(pk=job.pk).update(resolved_spec=spec)

    def changed_meanwhile(state: ClusterState) -> Plan:
        made = planner.plan(state)
        assert [one.action for one in made.decisions] == ["drop"]
        changed = {**spec, "pool": "", "pools": ["default", "fast"]}
        Job.objects.filter(pk=job.pk).update(resolved_spec=changed, version=F("version") + 1)
        return made

    loop = replace(world.loop(), planner=changed_meanwhile, check=invariants.check)
    assert loop.run_once()
    assert fresh(job).state == "queued"
    tick(world)
    assert (fresh(job).state, fresh(job).pool) == ("starting", fast)


def test_a_pool_for_one_team_is_chosen_only_by_whom_it_serves(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As admission tells it: who has a quota there, and a team that is alone needs none."""
    monkeypatch.setattr(Pool, "why_for_one_team", "its jobs are one user")
    job, fast = in_both(world, gpus=4)
    Node.objects.exclude(pool=fast).update(is_schedulable=False)
    tick(world)
    assert fresh(job).state == "queued"
    Quota.objects.create(team=job.team, pool=fast, guaranteed_gpus=0)
    tick(world)
    assert (fresh(job).state, fresh(job).pool) == ("starting", fast)


def test_a_team_that_is_alone_needs_no_quota_in_a_pool_for_one_team(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pool, "why_for_one_team", "its jobs are one user")
    Quota.objects.filter(team__name="language").delete()
    Team.objects.filter(name="language").delete()
    job, fast = in_both(world, gpus=4)
    Node.objects.exclude(pool=fast).update(is_schedulable=False)
    tick(world)
    assert (fresh(job).state, fresh(job).pool) == ("starting", fast)


@pytest.mark.parametrize("open_gpus", [4, 0], ids=["it was to start", "it was to wait there"])
def test_it_goes_nowhere_once_its_people_said_otherwise(world: World, open_gpus: int) -> None:
    """While a plan was made that puts it into the other pool."""
    job, fast = in_both(world, gpus=4, resources={"gpus_per_worker": 3})
    Node.objects.exclude(pool=fast).update(gpus=2)
    Node.objects.filter(pool=fast).update(is_schedulable=open_gpus > 0)
    spec = {**job.resolved_spec, "pool": "default", "pools": None}

    def changed_meanwhile(state: ClusterState) -> Plan:
        made = planner.plan(state)
        assert [one.pool for one in made.decisions] == ["fast"]
        Job.objects.filter(pk=job.pk).update(resolved_spec=spec, version=F("version") + 1)
        return made

    loop = replace(world.loop(), planner=changed_meanwhile, check=invariants.check)
    assert loop.run_once()
    assert (fresh(job).state, fresh(job).pool.name) == ("queued", "default")
    assert not GpuClaim.objects.filter(worker__job=job).exists()
