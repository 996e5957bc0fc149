"""A primary and a standby that has every commit: what an installation fails over with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg2
from local_stack.processes import embedded_postgres
from local_stack.processes.child_process import ChildProcess
from local_stack.processes.servers import answers

from tests import ports
from tests.end_to_end.waiting import until


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresOverTcp:
    """A server that listens on a port, as one on another machine does."""

    port: int
    process: ChildProcess

    @property
    def url(self) -> str:
        return _url(self.port, "postgres")

    def ask(self, statement: str) -> str:
        with closing(psycopg2.connect(self.url)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return str(cursor.fetchone()[0]) if cursor.description else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPair:
    """Two servers, of which the first takes writes."""

    primary: PostgresOverTcp
    standby: PostgresOverTcp

    @property
    def url(self) -> str:
        """Both, as an installation would name them."""
        addresses = ",".join(f"127.0.0.1:{one.port}" for one in (self.primary, self.standby))
        return f"postgresql://{embedded_postgres.ROLE}@{addresses}/{embedded_postgres.DATABASE}"

    def fail_over(self) -> None:
        """The primary dies without a word, then the standby is promoted."""
        self.primary.process.kill_group()
        until(lambda: not self.primary.process.is_alive, what="the primary is gone")
        assert self.standby.ask("SELECT pg_promote()") == "True"


@contextmanager
def running(folder: Path) -> Iterator[PostgresPair]:
    """A pair whose database is there, and empty."""
    first = start(folder / "primary")
    try:
        first.ask(f"CREATE DATABASE {embedded_postgres.DATABASE}")
        second = _start_standby(first, folder / "standby")
        try:
            _wait_for_each_commit(first)
            yield PostgresPair(primary=first, standby=second)
        finally:
            second.process.stop()
    finally:
        first.process.stop()


def start(folder: Path) -> PostgresOverTcp:
    port = ports.free_port()
    spec = embedded_postgres.spec(
        data_dir=folder / "data", runtime_dir=folder, log=folder.with_suffix(".log")
    )
    settings = ("listen_addresses=127.0.0.1", f"port={port}")
    over_tcp = replace(
        spec,
        command=(*spec.command, *(word for one in settings for word in ("-c", one))),
        is_ready=lambda: answers(embedded_postgres.reach, _url(port, "postgres")),
    )
    process = ChildProcess(over_tcp)
    process.wait_until_ready()
    return PostgresOverTcp(port=port, process=process)


def _start_standby(primary: PostgresOverTcp, folder: Path) -> PostgresOverTcp:
    """A copy of the primary that follows it."""
    identity = embedded_postgres.choose_identity(embedded_postgres.bin_dir())
    folder.mkdir(mode=0o700)
    subprocess.run(
        (
            *(*identity.prefix, str(embedded_postgres.bin_dir() / "pg_basebackup")),
            *("--pgdata", str(folder / "data"), "--write-recovery-conf", "--checkpoint=fast"),
            *("--dbname", primary.url),
        ),
        check=True,
    )
    return start(folder)


def _wait_for_each_commit(primary: PostgresOverTcp) -> None:
    """From now on no commit is said to be done before the standby has it."""
    primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.ask("SELECT pg_reload_conf()")
    until(
        lambda: primary.ask("SELECT max(sync_state) FROM pg_stat_replication") == "sync",
        what="the standby follows",
    )


def _url(port: int, database: str) -> str:
    return f"postgresql://{embedded_postgres.ROLE}@127.0.0.1:{port}/{database}"
