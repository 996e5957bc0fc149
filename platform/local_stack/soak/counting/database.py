"""What has the database done so far, for whom, and how large is it? As PostgreSQL itself counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg2

_STATEMENTS: Final = """
    SELECT coalesce(role.rolname, ''), sum(calls), sum(total_exec_time) / 1000
    FROM pg_stat_statements told LEFT JOIN pg_roles role ON role.oid = told.userid
    WHERE query !~* '^(set|show|begin|commit|rollback|savepoint|release)' GROUP BY 1
"""
_CALLS: Final = """
    SELECT queryid, sum(calls) FROM pg_stat_statements told
    JOIN pg_roles role ON role.oid = told.userid WHERE role.rolname = %s GROUP BY 1
"""
_CONNECTIONS: Final = """
    SELECT usename, count(*) FROM pg_stat_activity
    WHERE usename IS NOT NULL AND pid <> pg_backend_pid() GROUP BY 1
"""
_STATES: Final = "SELECT state, count(*) FROM jobs_job GROUP BY 1"
_TABLES: Final = """
    SELECT relname, pg_total_relation_size(relid), n_tup_ins - n_tup_del, n_live_tup
    FROM pg_stat_user_tables
"""
_TURN: Final = "SELECT coalesce(max(turn), 0) FROM control_loop_lease"
_OLDEST: Final = """
    SELECT extract(epoch FROM now() - min(submitted_at)) FROM jobs_job WHERE state = 'queued'
"""
_OLDER: Final = """
    UPDATE jobs_job SET started_at = started_at - make_interval(secs => %s)
    WHERE state IN ('running', 'rescaling')
"""
_NEWS: Final = """
    SELECT job_id, revision, extract(epoch FROM at) FROM jobs_assignment
    WHERE at > now() - make_interval(secs => %s)
"""
_TOP: Final = """
    SELECT role.rolname, calls, total_exec_time / 1000,
           left(regexp_replace(query, '\\s+', ' ', 'g'), 300)
    FROM pg_stat_statements told JOIN pg_roles role ON role.oid = told.userid
    ORDER BY total_exec_time DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """One table with its indexes."""

    size: int  # in bytes
    kept: int  # rows that were inserted and not deleted since the server was started
    live: int  # rows there are

    @property
    def row_bytes(self) -> float:
        return self.size / self.live if self.live else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCounts:
    """Since the server was started."""

    statements: Mapping[str, int]  # by role
    statement_seconds: Mapping[str, float]
    connections: Mapping[str, int]  # at this moment
    jobs: Mapping[str, int]  # by state
    tables: Mapping[str, TableCounts]
    wal_bytes: int
    ticks: int
    oldest_queued_seconds: float


class MeasuredDatabase:
    """The database of a measured stack, asked as its superuser."""

    def __init__(self, url: str) -> None:
        self._url = url
        with self._cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def counts(self) -> DatabaseCounts:
        with self._cursor() as cursor:
            statements = _rows(cursor, _STATEMENTS)
            return DatabaseCounts(
                statements={role: int(calls) for role, calls, _ in statements},
                statement_seconds={role: float(seconds) for role, _, seconds in statements},
                connections=dict(_rows(cursor, _CONNECTIONS)),
                jobs=dict(_rows(cursor, _STATES)),
                tables={
                    name: TableCounts(size=size, kept=kept, live=live)
                    for name, size, kept, live in _rows(cursor, _TABLES)
                },
                wal_bytes=int(_rows(cursor, "SELECT wal_bytes FROM pg_stat_wal")[0][0]),
                ticks=int(_rows(cursor, _TURN)[0][0]),
                oldest_queued_seconds=float(_rows(cursor, _OLDEST)[0][0] or 0.0),
            )

    def ticks(self) -> int:
        """Count as `counts` does; looking at all tables takes far longer, and would be measured."""
        with self._cursor() as cursor:
            return int(_rows(cursor, _TURN)[0][0])

    def jobs(self) -> dict[str, int]:
        """Count them by state, as `ticks`."""
        with self._cursor() as cursor:
            return dict(_rows(cursor, _STATES))

    def make_older(self, seconds: float) -> None:
        """Let jobs that train have begun so much earlier: young ones report more often."""
        with self._cursor() as cursor:
            cursor.execute(_OLDER, [seconds])

    def calls(self, role: str) -> dict[int, int]:
        """Return how often each statement of a role was called."""
        with self._cursor() as cursor:
            return {query: int(calls) for query, calls in _rows(cursor, _CALLS, role)}

    def assignments(self, seconds: float) -> dict[tuple[str, int], float]:
        """Return when each assignment of so many last seconds was decided, by job and revision."""
        with self._cursor() as cursor:
            return {
                (job, revision): float(at) for job, revision, at in _rows(cursor, _NEWS, seconds)
            }

    def dearest(self, count: int) -> list[tuple[str, int, float, str]]:
        """The statements that took longest together: role, calls, seconds, text."""
        with self._cursor() as cursor:
            return _rows(cursor, _TOP, count)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        connection = psycopg2.connect(self._url, connect_timeout=10)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()


def _rows(cursor: Any, query: str, *arguments: object) -> list[Any]:
    cursor.execute(query, arguments)
    rows: list[Any] = cursor.fetchall()
    return rows
