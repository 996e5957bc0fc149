"""Do ticks write down what teams were owed and not given, and do hours add it up?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Node
from django.db import connection
from django.test.utils import CaptureQueriesContext
from tenancy.models import Quota

from autoscaler.gpu_accounts import closing, owing, retention
from autoscaler.gpu_accounts.models import AccountsClock, ClosedHour, OwedHour, OwedSpan
from autoscaler.gpu_accounts.reading.receipt import read_receipt
from autoscaler.job_vocabulary import JobReason
from jobs.models import Job
from tests.control_loop.accounts.noon import NOON, always
from tests.control_loop.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def told(team: str = "vision") -> list[tuple[dict[str, Any], bool]]:
    """What was missing, and whether it is now; in the order of time."""
    rows = OwedSpan.objects.filter(team=team).order_by("id")
    return [(one.missing, one.until is None) for one in rows]


def test_a_job_that_waits_within_the_guarantee_is_a_shortfall_until_it_starts(
    world: World,
) -> None:
    world.planner.reason = JobReason.WAITING_FOR_RECLAIM
    job = world.job()
    world.tick(3)
    waits = {"reclaim": {"gpus": 1, "jobs": [job.id]}}
    assert told() == [(waits, True)]
    world.running(job, 1)
    world.tick(2)
    assert told() == [(waits, False), ({}, True)]
    first, second = OwedSpan.objects.order_by("id")
    assert first.until == second.since
    assert not told("language"), "it has no work"


def test_another_worker_of_the_control_loop_goes_on_with_the_same_row(world: World) -> None:
    world.planner.reason = JobReason.WAITING_FOR_RECLAIM
    world.job()
    world.tick()
    assert world.loop(holder="another").run_once()
    assert len(told()) == 1


@pytest.mark.parametrize(
    ("changes", "causes"),
    [
        ({"not_before": timedelta(hours=1)}, []),
        ({"spec": 4}, []),
        ({"closed": True}, ["nodes_lost"]),
        ({}, ["not_given_back"]),
    ],
    ids=["in its back-off", "too large for the guarantee", "nodes are closed", "others keep them"],
)
def test_what_is_owed_to_a_job(world: World, changes: dict[str, Any], causes: list[str]) -> None:
    world.planner.reason = JobReason.WAITING_FOR_CAPACITY
    job = world.job(elastic={"min_workers": changes.get("spec", 1)})
    if "not_before" in changes:
        Job.objects.filter(pk=job.pk).update(not_before=world.clock() + changes["not_before"])
    if "closed" in changes:
        Node.objects.update(is_schedulable=False)
    world.tick()
    assert [list(missing) for missing, _ in told()] == ([causes] if causes else [])


def test_a_guarantee_that_changes_counts_from_then_on(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=3)
    world.tick()
    rows = OwedSpan.objects.filter(team="vision").order_by("id")
    assert [one.guaranteed_gpus for one in rows] == [2, 3]
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=0)
    world.tick()
    assert not OwedSpan.objects.filter(team="vision", until=None).exists()


def test_nothing_is_written_while_nothing_changes(world: World) -> None:
    waiting = [
        owing.JobLeftWaiting(
            job=f"j{number}", pool="default", team="vision", gpus=1, reason=JobReason.FRAGMENTED
        )
        for number in range(50)
    ]
    world.tick()
    statements = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as seen:
            owing.record_owed(waiting, {"default": 4}, world.clock())
        statements.append(len(seen))
    assert statements == [2, 1]
    ((missing, _),) = told()
    assert missing == {"fragmented": {"gpus": 2, "jobs": ["j0", "j1"]}}


@pytest.fixture
def owed() -> None:
    """From half past eleven on vision has work; for a quarter of an hour two GPUs are missing."""
    ClosedHour.objects.create(hour=NOON - 2 * closing.HOUR, capacities={})
    quarter = closing.HOUR / 4
    moments = [NOON - 2 * quarter, NOON - quarter / 2, NOON + quarter / 2, None]
    missing = {"reclaim": {"gpus": 2, "jobs": ["a1", "b2"]}}
    for since, until, what in zip(moments, moments[1:], ({}, missing, {}), strict=False):
        OwedSpan.objects.create(
            pool="default",
            team="vision",
            guaranteed_gpus=4,
            since=since,
            until=until,
            missing=what,
        )
    AccountsClock.objects.create(pk=1, at=NOON + closing.HOUR)


def test_hours_add_up_what_was_owed_however_often_they_are_closed(owed: None) -> None:
    assert closing.close_hours(has_time=always) == 2
    closing.close_hour(NOON)
    minute = 60_000_000
    rows = OwedHour.objects.order_by("hour").values_list("hour", "working", "given", "missing")
    assert list(rows) == [
        (NOON - closing.HOUR, 30 * minute, 22.5 * minute, {"reclaim": 15 * minute}),
        (NOON, 60 * minute, 52.5 * minute, {"reclaim": 15 * minute}),
    ]
    found = read_receipt("vision", since=NOON - closing.HOUR, until=NOON + closing.HOUR)
    assert (found.working, found.given) == (90 * minute, 75 * minute)
    assert sum(one.amount for one in found.missing) == 30 * minute
    (shortfall,) = found.shortfalls
    assert (shortfall.amount, shortfall.jobs) == (30 * minute, ["a1", "b2"])
    half = read_receipt("vision", since=NOON, until=NOON + closing.HOUR)
    assert [one.amount for one in half.shortfalls] == [15 * minute]


def test_shortfalls_without_a_length_hide_none_that_are_older(owed: None) -> None:
    """The clock stood still for them."""
    last = OwedSpan.objects.get(until=None)
    last.until = last.since + closing.HOUR / 4
    last.missing = {"fragmented": {"gpus": 1, "jobs": ["c3"]}}
    last.save()
    for gpus in (1, 2):
        OwedSpan.objects.create(
            pool="default",
            team="vision",
            guaranteed_gpus=4,
            since=last.until,
            until=last.until,
            missing={"fragmented": {"gpus": gpus, "jobs": ["c3"]}},
        )
    found = read_receipt(
        "vision", since=NOON - closing.HOUR, until=NOON + closing.HOUR, most_shortfalls=1
    )
    assert [one.jobs for one in found.shortfalls] == [["c3"]]
    assert found.has_more


def test_sums_of_hours_stay_when_their_moments_are_forgotten(owed: None) -> None:
    closing.close_hours(has_time=always)
    late = NOON + retention.OWED_KEPT + closing.HOUR
    ClosedHour.objects.create(hour=late, capacities={})

    def erase(rows: Any) -> int:
        count: int = rows.delete()[0]
        return count

    assert retention.delete_old(erase=erase)["gpu_owedspans"] == 2
    found = read_receipt("vision", since=NOON - closing.HOUR, until=late)
    assert found.missing
    assert not found.shortfalls
