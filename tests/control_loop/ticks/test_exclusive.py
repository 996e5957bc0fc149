"""One process applies at a time, and one that was overtaken applies nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection

from autoscaler.control_loop.lease.exclusive import LeaseLost, exclusively
from autoscaler.control_loop.models import Lease
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.models import Job, Worker
from tests.control_loop.world import World, fresh

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def other_process(transactional_db: None) -> Iterator[threading.Event]:
    """Another connection that ticks until the event is set."""
    is_ticking, may_end = threading.Event(), threading.Event()

    def tick() -> None:
        try:
            with exclusively(holder="other", now=NOW) as fence:
                assert fence is not None
                is_ticking.set()
                may_end.wait(90)
        finally:
            connection.close()

    thread = threading.Thread(target=tick)
    thread.start()
    assert is_ticking.wait(90)
    yield may_end
    may_end.set()
    thread.join()


def test_the_same_holder_keeps_its_number() -> None:
    numbers = []
    for _ in range(2):
        with exclusively(holder="a", now=NOW) as fence:
            assert fence is not None
            numbers.append(fence.number)
    assert numbers == [1, 1]


def test_a_new_holder_gets_a_higher_number() -> None:
    numbers = []
    for holder in ("a", "b", "a"):
        with exclusively(holder=holder, now=NOW) as fence:
            assert fence is not None
            numbers.append(fence.number)
    assert numbers == [1, 2, 3]


def test_only_one_process_ticks_at_a_time(other_process: threading.Event) -> None:
    with exclusively(holder="a", now=NOW) as fence:
        assert fence is None


def test_a_process_that_died_is_replaced_at_once(other_process: threading.Event) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_locks"  # waits until it has gone
            " WHERE locktype = 'advisory' AND granted AND database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        assert cursor.fetchall() == [(True,)]
    with exclusively(holder="a", now=NOW) as fence:
        assert fence is not None
        assert fence.number == 2


def test_nothing_is_applied_with_a_stale_number() -> None:
    with exclusively(holder="a", now=NOW) as fence:
        assert fence is not None
        Lease.objects.update(holder="b", fence=fence.number + 1)
        with pytest.raises(LeaseLost), fence.transaction():
            pytest.fail("entered a transaction with a stale number")


def test_a_tick_that_is_overtaken_stops_applying(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    planner = world.planner

    def overtaken_while_planning(state: ClusterState) -> Plan:
        Lease.objects.update(holder="somebody else", fence=99)
        return planner(state)

    world.planner = overtaken_while_planning  # type: ignore[assignment] # a planner all the same
    assert not world.loop().run_once()
    assert fresh(job).state == "queued"
    assert not Worker.objects.exists()
    assert Job.objects.get().explanation == {}
    world.planner = planner
    world.tick()
    assert fresh(job).state == "starting"


def test_a_double_tick_starts_nothing_twice(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    assert world.loop(holder="a").run_once()
    assert world.loop(holder="b").run_once()
    assert len(world.host.launches) == 3
    assert Worker.objects.count() == 2
