"""What does the database of the stack say? Read as its owner, each time over a new connection."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg2
from control_plane import database_roles

from local_stack.chaos.observation.facts import (
    ClaimFact,
    EventFact,
    Facts,
    GenerationFact,
    JobFact,
    WorkerFact,
)
from local_stack.processes import embedded_postgres
from local_stack.stack.service import StackService

Row = dict[str, Any]

CONNECT_SECONDS = 5
STATEMENT = "-c statement_timeout=15s"  # of a server that is frozen; it answers with an error

JOBS = """
    SELECT id, name, state, reason, message, failures, step, samples, gpu_seconds,
           coordinator_term
    FROM jobs_job ORDER BY submitted_at
"""
EVENTS = """
    SELECT job_id, old_state AS old, new_state AS new
    FROM jobs_event WHERE kind = 'state_changed' ORDER BY id
"""
GENERATIONS = """
    SELECT job_id, number, attempt, step, worker_ids, lost_worker_ids, recorded_at,
           ended_at IS NULL AS is_open
    FROM jobs_generation ORDER BY number
"""
WORKERS = "SELECT job_id, id, phase, created_at, gone_at FROM jobs_worker ORDER BY created_at"
LIVE = "SELECT id FROM jobs_worker WHERE id = ANY(%s) AND phase <> 'gone' ORDER BY id"
PLANNED = "SELECT id, (explanation->>'workers')::int FROM jobs_job WHERE explanation ? 'workers'"
CLAIMS = """
    SELECT node.name AS node, claim.gpu_index, claim.worker_id
    FROM jobs_gpuclaim claim JOIN cluster_node node ON node.id = claim.node_id
"""


class StackDatabase:
    """The database of one stack."""

    def __init__(self, service: StackService) -> None:
        self._url = embedded_postgres.url(service.checkout.runtime_dir)
        self._environment = service.environment(database_roles.OWNER)
        self._is_django_ready = False

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """A cursor for reading; what one block reads is of one moment.

        Raises:
            psycopg2.Error: it does not answer.
        """
        connection = psycopg2.connect(self._url, connect_timeout=CONNECT_SECONDS, options=STATEMENT)
        try:
            connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    @contextmanager
    def live_cursor(self) -> Iterator[Any]:
        """A cursor for looking again and again: each statement sees what is there then."""
        connection = psycopg2.connect(self._url, connect_timeout=CONNECT_SECONDS, options=STATEMENT)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    def facts(self) -> Facts:
        """All jobs, with their histories, at one moment.

        Raises:
            psycopg2.Error: it does not answer.
        """
        with self.cursor() as cursor:
            return _read(cursor)

    def live_workers(self, worker_ids: Iterable[str]) -> list[str]:
        """Return which of these are alive on record.

        Raises:
            psycopg2.Error: it does not answer.
        """
        with self.cursor() as cursor:
            cursor.execute(LIVE, [list(worker_ids)])
            return [worker_id for (worker_id,) in cursor.fetchall()]

    def planned_workers(self) -> dict[str, int]:
        """Return how many workers the newest plan gives each job, by its id.

        The newest assignment may say more: of a worker that was lost and whose GPU another job got
        at once, nothing new is assigned.

        Raises:
            psycopg2.Error: it does not answer.
        """
        with self.cursor() as cursor:
            cursor.execute(PLANNED)
            return dict(cursor.fetchall())

    def contradictions(self) -> list[str]:
        """Return what the service's own command of this name says.

        Raises:
            psycopg2.Error: it does not answer.
        """
        return list(self._of_the_service())

    def _of_the_service(self) -> Iterator[str]:
        """Django is set up by the first call: its settings read the environment once."""
        # ruff: noqa: PLC0415 - models cannot be imported before
        import django

        if not self._is_django_ready:
            with _environment(self._environment):
                django.setup()
            logging.getLogger("httpx").setLevel(logging.WARNING)  # now that logs are on
            self._is_django_ready = True
        from django.db import Error, connection

        from autoscaler.control_loop.consistency import contradictions

        try:
            yield from contradictions()
        except Error as trouble:
            raise psycopg2.OperationalError(str(trouble)) from trouble
        finally:
            connection.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set these for a while only: a stack started with them would take its servers for others'."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _read(cursor: Any) -> Facts:
    changes = _by_job(cursor, EVENTS)
    generations = _by_job(cursor, GENERATIONS)
    workers = _by_job(cursor, WORKERS)
    return Facts(
        claims=tuple(ClaimFact(**row) for row in _rows(cursor, CLAIMS)),
        jobs=tuple(
            JobFact(
                **row,
                state_changes=tuple(EventFact(**one) for one in changes[row["id"]]),
                generations=tuple(_generation(one) for one in generations[row["id"]]),
                workers=tuple(WorkerFact(**one) for one in workers[row["id"]]),
            )
            for row in _rows(cursor, JOBS)
        ),
    )


def _generation(row: Row) -> GenerationFact:
    lists: Row = {name: tuple(row[name]) for name in ("worker_ids", "lost_worker_ids")}
    return GenerationFact(**{**row, **lists})


def _by_job(cursor: Any, query: str) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in _rows(cursor, query):
        found[row.pop("job_id")].append(row)
    return found


def _rows(cursor: Any, query: str) -> list[Row]:
    cursor.execute(query)
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
