"""Does a request that waits for the database give up, and nothing else?"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing

import pytest
from control_plane.database.statement_bounds import bounded
from django.db import OperationalError, connection
from django.db.backends.postgresql.base import DatabaseWrapper


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seconds", "bounds"),
    [(0, ["0", "0", "0"]), (30, ["30s", "5s", "1min"]), (0.25, ["250ms", "250ms", "1min"])],
)
def test_a_session_has_the_bounds_it_was_given(seconds: float, bounds: list[str]) -> None:
    database = {**connection.settings_dict, "OPTIONS": {"options": "-c work_mem=8MB"}}
    wrapper = DatabaseWrapper(bounded(database, statement_seconds=seconds))
    found = []
    with closing(wrapper) as session, session.cursor() as cursor:
        silence = "idle_in_transaction_session_timeout"
        for name in ("statement_timeout", "lock_timeout", silence, "work_mem"):
            cursor.execute(f"SHOW {name}")
            found.append(cursor.fetchone()[0])
    assert found == [*bounds, "8MB"]


@pytest.mark.django_db
def test_a_statement_that_takes_too_long_is_given_up() -> None:
    database = bounded(dict(connection.settings_dict), statement_seconds=0.05)
    with (
        closing(DatabaseWrapper(database)) as session,
        session.cursor() as cursor,
        pytest.raises(OperationalError, match="statement timeout"),
    ):
        cursor.execute("SELECT pg_sleep(600)")


API = "import control_plane.asgi"
TASKS = """
import sys
from celery.signals import worker_init
from control_plane.celery import celery_app
celery_app.loader.import_default_modules()
celery_app.amqp.queues.select(["io"])
assert "scipy" not in sys.modules, "loaded by everybody who imports tasks"
worker_init.send(sender=type("Worker", (), {"app": celery_app}))
assert "scipy" in sys.modules, "to be loaded by each child"
"""
LOOK = """

from concurrent.futures import ThreadPoolExecutor
from django.db import connection

def look(name):
    with connection.cursor() as cursor:
        cursor.execute("SHOW " + name)
        return cursor.fetchone()[0]

with ThreadPoolExecutor(1) as threads:
    print(*threads.map(look, ("statement_timeout", "lock_timeout")))
"""


@pytest.mark.parametrize(("process", "bounds"), [(API, "17s 5s"), (TASKS, "0 5s")])
def test_processes_bound_their_statements(process: str, bounds: str) -> None:
    """In a thread, as the views of the api run."""
    path = os.pathsep.join(path for path in sys.path if path)
    told = subprocess.run(
        (sys.executable, "-c", process + LOOK),
        env={**os.environ, "PYTHONPATH": path, "CONCERTINA_STATEMENT_SECONDS": "17"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.strip() == bounds, told.stderr
