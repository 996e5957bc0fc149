"""What all ticks do is added up, whether they change anything or not, and whoever runs them."""

from __future__ import annotations

from dataclasses import replace

from autoscaler.control_loop.models import Tick, TickTotal
from autoscaler.planning.decisions.invariants import Violation
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from tests.control_loop.world import World


def totals() -> dict[str, float]:
    return {
        f"{one.counted} {one.kind}".strip(): one.total
        for one in TickTotal.objects.all()
        if one.counted != "seconds"
    }


def took(part: str) -> TickTotal:
    return TickTotal.objects.get(counted="seconds", kind=part)


def test_ticks_and_what_they_carry_out_are_counted_though_the_journal_forgets_them(
    world: World,
) -> None:
    job = world.job("digits")
    world.wish(job, 1)
    world.tick()
    assert totals()["ticks"] == totals()["changes start"] == 1
    first = {part: took(part).total for part in ("observe", "plan", "apply")}
    assert all(seconds > 0 for seconds in first.values())
    Tick.objects.all().delete()
    assert world.loop().run_once()  # another process, and nothing to change
    seen = totals()
    assert (seen["ticks"], seen["changes start"], seen["changes pause"]) == (2, 1, 0)
    assert TickTotal.objects.get(counted="changes", kind="start").last == 0
    for part, seconds in first.items():
        assert took(part).total == seconds + took(part).last > seconds


def test_a_tick_that_did_not_happen_is_not_counted(world: World) -> None:
    world.host.is_unavailable = True
    assert not world.loop().run_once()
    assert totals() == {}


def test_alarms_are_counted_in_each_tick_and_plans_that_are_not_applied_for_each_pool(
    world: World,
) -> None:
    def broken(state: ClusterState, plan: Plan) -> list[Violation]:
        return [Violation(rule="no_gpu_twice", message="n1:0 is used twice")]

    for _ in range(2):
        assert replace(world.loop(), check=broken).run_once()
    seen = totals()
    assert Tick.objects.exclude(alarm="").count() == 1  # the journal has a lasting one once
    assert (seen["ticks"], seen["alarms"], seen["refused"]) == (2, 2, 2)
