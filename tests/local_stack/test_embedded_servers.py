"""PostgreSQL and Valkey from wheels: real, private, and back after a kill with every write."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg2
import pytest
import redis
from local_stack.processes import embedded_postgres, embedded_valkey
from local_stack.processes.child_process import ChildProcess, NotReady, ProcessSpec
from local_stack.processes.embedded_postgres import NoPostgres
from local_stack.processes.embedded_valkey import NoValkey


@contextmanager
def running(spec: ProcessSpec) -> Iterator[ChildProcess]:
    process = ChildProcess(spec)
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.stop()


def postgres(folder: Path) -> ProcessSpec:
    return embedded_postgres.spec(
        data_dir=folder / "data", runtime_dir=folder, log=folder / "postgres.log"
    )


def valkey(folder: Path) -> ProcessSpec:
    return embedded_valkey.spec(
        data_dir=folder / "data", runtime_dir=folder, log=folder / "valkey.log"
    )


def test_postgres_keeps_committed_rows_over_a_kill(folder: Path) -> None:
    url = embedded_postgres.url(folder)
    with running(postgres(folder)) as process:
        embedded_postgres.ensure_database(folder)
        embedded_postgres.ensure_database(folder)  # a second time is no error
        with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE kept AS SELECT 42 AS answer")
            connection.commit()
        os.killpg(process.pid, signal.SIGKILL)
    with (
        running(postgres(folder)),
        closing(psycopg2.connect(url)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT answer FROM kept")
        assert cursor.fetchone() == (42,)


def test_postgres_listens_on_no_port_and_lets_nobody_else_in(folder: Path) -> None:
    with (
        running(postgres(folder)),
        closing(psycopg2.connect(embedded_postgres.url(folder, "postgres"))) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SHOW listen_addresses")
        assert cursor.fetchone() == ("",)
        assert embedded_postgres.socket_dir(folder).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another identity")
def test_root_can_run_postgres_as_nobody_where_user_namespaces_are_blocked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = embedded_postgres.DatabaseUser(prefix=("false",))
    monkeypatch.setattr(embedded_postgres, "USER_NAMESPACE", blocked)
    with running(postgres(folder)) as process:
        assert process.is_alive
        assert (folder / "data").stat().st_uid != 0


def test_valkey_keeps_acknowledged_writes_over_a_kill(folder: Path) -> None:
    url = embedded_valkey.url(folder)
    with running(valkey(folder)) as process:
        with redis.Redis.from_url(url) as client:
            client.config_set("appendfsync", "always")
            client.set("kept", "42")
        os.killpg(process.pid, signal.SIGKILL)
    with running(valkey(folder)), redis.Redis.from_url(url) as client:
        assert client.get("kept") == b"42"


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("postgresql://me:secret@127.0.0.1:1/x", "DATABASE_URL: .*Connection refused"),
        ("mysql://me:secret@127.0.0.1/x", "DATABASE_URL: that is not PostgreSQL"),
    ],
)
def test_a_database_that_does_not_answer_is_told_without_its_password(
    url: str, complaint: str
) -> None:
    with pytest.raises(NoPostgres, match=complaint) as refusal:
        embedded_postgres.reach(url)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "unix:///nowhere/at/all", "elsewhere"])
def test_a_redis_that_does_not_answer_is_named_by_its_variable(url: str) -> None:
    with pytest.raises(NoValkey, match="REDIS_URL: "):
        embedded_valkey.reach(url)


def test_a_server_that_cannot_start_says_so_at_once(folder: Path) -> None:
    spec = valkey(folder)
    broken = ProcessSpec(
        name="valkey",
        command=(*spec.command, "--no-such-setting", "1"),
        log=spec.log,
        working_directory=spec.working_directory,
        is_ready=spec.is_ready,
    )
    process = ChildProcess(broken)
    with pytest.raises(NotReady, match="ended with exit code 1"):
        process.wait_until_ready()
    process.stop()
