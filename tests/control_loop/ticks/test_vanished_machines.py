"""Does a standby tick soon though the machine of the process that ticks vanished without a word?"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg2
import pytest

from autoscaler.control_loop.database_timeouts import ASKED_AFTER
from autoscaler.control_loop.lease.exclusive import LOCK_NUMBER
from tests import own_network
from tests.end_to_end import postgres_pair
from tests.end_to_end.postgres_pair import PostgresOverTcp

TAKE = f"SELECT pg_advisory_lock({LOCK_NUMBER})"
LONG = "60s"  # of a standby that waits; a kernel asks after a silent peer after two hours


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PostgresOverTcp]:
    if not own_network.is_entered() or shutil.which("iptables") is None:
        pytest.skip("needs iptables, and a network of its own, as several processes of tests have")
    made = postgres_pair.start(tmp_path / "server")
    yield made
    made.process.stop()


@contextmanager
def cut(port: int) -> Iterator[None]:
    """Nothing reaches this port, nor comes from it: no packet that ends a connection, either."""
    rules = [("-p", "tcp", side, str(port), "-j", "DROP") for side in ("--sport", "--dport")]
    for rule in rules:
        subprocess.run(("iptables", "-A", "INPUT", *rule), check=True)
    try:
        yield
    finally:
        for rule in rules:
            subprocess.run(("iptables", "-D", "INPUT", *rule), check=True)


def test_a_standby_gets_the_right_to_tick_and_the_vanished_one_finds_that_it_lost_it(
    server: PostgresOverTcp,
) -> None:
    with session(server) as ticking, session(server) as standby:
        for name, value in ASKED_AFTER.items():
            ticking.execute(f"SET {name} = '{value}'")
        ticking.execute(TAKE)
        ticking.execute("SELECT inet_client_port()")
        (port,) = ticking.fetchone() or (0,)
        with cut(port):
            standby.execute(f"SET lock_timeout = '{LONG}'")
            standby.execute(TAKE)
        with pytest.raises(psycopg2.OperationalError):
            ticking.execute("SELECT 1")


@contextmanager
def session(server: PostgresOverTcp) -> Iterator[psycopg2.extensions.cursor]:
    with closing(psycopg2.connect(server.url)) as made:
        made.autocommit = True
        yield made.cursor()
