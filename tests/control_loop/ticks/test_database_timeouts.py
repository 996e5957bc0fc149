"""Does a tick end though the database hangs, and does another go on though a tick is frozen?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import psycopg2
import pytest
from django.db import Error, OperationalError, connection

from autoscaler.control_loop.database_timeouts import DatabaseTimeouts, time_limited
from autoscaler.control_loop.lease.exclusive import LOCK_NUMBER, exclusively
from autoscaler.control_loop.models import Lease
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from tests.control_loop.world import World, fresh

pytestmark = pytest.mark.django_db(transaction=True)

# above what any statement of a tick takes on a busy machine
SHORT = DatabaseTimeouts(statement=3.0)


def bounds() -> list[str]:
    """Of this session, as PostgreSQL writes them."""
    found = []
    with connection.cursor() as cursor:
        for name in (
            "lock_timeout",
            "statement_timeout",
            "idle_in_transaction_session_timeout",
            "idle_session_timeout",
        ):
            cursor.execute(f"SHOW {name}")
            found.append(cursor.fetchone()[0])
    return found


@contextmanager
def hanging(table: str, row: str) -> Iterator[None]:
    """Whatever is written of this row never comes to an end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER hang BEFORE UPDATE ON {table} FOR EACH ROW"
            f" WHEN ({row}) EXECUTE FUNCTION hang()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION hang CASCADE")


def test_a_tick_bounds_its_statements_and_its_silence_and_nothing_after_it(world: World) -> None:
    during = []

    def plan(state: ClusterState) -> Plan:
        during.append(bounds())
        return world.planner(state)

    before = bounds()
    assert replace(world.loop(), planner=plan).run_once()
    assert during == [["1s", "1min", "1min", "5min"]]
    assert bounds() == before


def test_a_tick_whose_machine_vanishes_is_given_up_within_ten_seconds(world: World) -> None:
    """As PostgreSQL is told; a session over a socket folder, as of tests, has no such machine."""
    told: dict[str, str] = {}

    def note(execute: Callable[..., Any], sql: str, params: Any, *how: Any) -> Any:
        if sql.startswith("SELECT set_config"):
            told.update(zip(params[::2], params[1::2], strict=True))
        return execute(sql, params, *how)

    with connection.execute_wrapper(note):
        world.tick()
    idle, interval, most = (
        int(told[f"tcp_keepalives_{name}"].rstrip("s")) for name in ("idle", "interval", "count")
    )
    assert idle + interval * most <= 10
    assert int(told["tcp_user_timeout"].rstrip("s")) <= 10


def test_a_standby_goes_on_where_a_tick_was_whose_session_is_lost(world: World) -> None:
    """It was to start a job; another does, with a higher number, and only once."""
    job = world.job()
    world.wish(job, 2)
    planner = world.planner

    def lost(state: ClusterState) -> Plan:
        plan = planner(state)
        with other_session() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'"
                " AND granted AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        return plan

    dying = replace(world.loop(holder="dying"), planner=lost)
    with pytest.raises(Error):
        dying.run_once()
    connection.close()
    assert fresh(job).state == "queued"
    assert world.loop(holder="standby").run_once()
    assert fresh(job).state == "starting"
    assert (Lease.objects.get().holder, Lease.objects.get().fence) == ("standby", 2)
    assert len(world.host.launches) == 3


@contextmanager
def other_session() -> Iterator[Any]:
    """A cursor of a connection of its own."""
    with closing(psycopg2.connect(**connection.get_connection_params())) as other:
        other.autocommit = True
        with other.cursor() as cursor:
            yield cursor


def test_a_tick_whose_statement_hangs_ends_and_the_next_works(world: World) -> None:
    job = world.job()
    world.tick()
    world.wish(job, 1)
    with (
        hanging("control_loop_lease", "true"),
        pytest.raises(OperationalError, match="statement timeout"),
    ):
        replace(world.loop(), database_timeouts=SHORT).run_once()
    world.tick()
    assert fresh(job).state == "starting"


def test_a_job_about_which_statements_hang_waits_and_the_others_start(world: World) -> None:
    slow, other = world.job("slow"), world.job("other")
    for job in (slow, other):
        world.wish(job, 1)
    with hanging("jobs_job", f"NEW.id = '{slow.id}'"):
        assert replace(world.loop(), database_timeouts=SHORT).run_once()
        assert (fresh(slow).state, fresh(other).state) == ("queued", "starting")
    world.tick()
    assert fresh(slow).state == "starting"


@pytest.mark.parametrize("is_in_transaction", [True, False])
def test_a_tick_that_is_frozen_keeps_another_process_from_ticking_for_a_while_only(
    world: World, *, is_in_transaction: bool
) -> None:
    """The database ends its session; when it wakes up it can neither write nor tick."""
    is_frozen, may_wake, met = threading.Event(), threading.Event(), list[Error]()
    short = DatabaseTimeouts(within_transaction=0.05, between_statements=0.05)

    def tick() -> None:
        try:
            with exclusively(holder="frozen", now=world.clock()) as fence:
                assert fence is not None
                transaction = fence.transaction() if is_in_transaction else nullcontext()
                with transaction, time_limited(short):
                    is_frozen.set()
                    assert may_wake.wait(90)
                    Lease.objects.update(holder="woken")
        except Error as error:
            met.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=tick)
    thread.start()
    assert is_frozen.wait(90)
    try:
        await_its_end()
        assert world.loop().run_once()
    finally:
        may_wake.set()
        thread.join()
    assert [type(error) for error in met] == [OperationalError]
    assert Lease.objects.get().holder == "test"


def await_its_end() -> None:
    """Whoever waits for the right to tick gets it as soon as that session has ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
        cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_NUMBER])
