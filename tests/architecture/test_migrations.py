"""Do processes of the former release go on while, and after, this one's migrations are applied?

They insert, read and update what `former_release.json` says, column by column.
"""

from __future__ import annotations

import io
from typing import Any

import psycopg2
import pytest
from control_plane.management.commands.migrate import Command
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import Error, connection
from django.db.migrations import AddField
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader

from tests.architecture import former_release

pytestmark = pytest.mark.django_db


class FormerRelease:
    """Writes one row of each table as the former release does; rows that it needs come first."""

    def __init__(self) -> None:
        self._rows = former_release.read()
        self._keys: dict[str, Any] = {"auth_user": User.objects.create_user("1").pk}

    def writes_everything(self) -> None:
        for table in self._rows:
            key = self._inserts(table)
            columns = ", ".join(f'"{name}"' for name in self._rows[table])
            again = ", ".join(f'"{name}" = "{name}"' for name in self._rows[table])
            name = _primary_key(table)
            with connection.cursor() as cursor:
                cursor.execute(f'UPDATE "{table}" SET {again} WHERE "{name}" = %s', [key])  # noqa: S608
                cursor.execute(f'SELECT {columns} FROM "{table}" WHERE "{name}" = %s', [key])  # noqa: S608
                assert cursor.fetchone() is not None, table

    def _inserts(self, table: str) -> Any:
        if table not in self._keys:
            row = {name: self._resolved(value) for name, value in self._rows[table].items()}
            columns = ", ".join(f'"{name}"' for name in row)
            values = ", ".join("%s" for _ in row)
            insert = f'INSERT INTO "{table}" ({columns}) VALUES ({values}) RETURNING'  # noqa: S608
            with connection.cursor() as cursor:
                cursor.execute(f'{insert} "{_primary_key(table)}"', [*row.values()])
                (self._keys[table],) = cursor.fetchone()
        return self._keys[table]

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith(former_release.ROW_OF):
            return self._inserts(value.removeprefix(former_release.ROW_OF))
        return value


def _primary_key(table: str) -> str:
    with connection.cursor() as cursor:
        return str(connection.introspection.get_primary_key_column(cursor, table))


def test_the_former_release_writes_and_reads_all_of_its_tables() -> None:
    FormerRelease().writes_everything()


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE jobs_job ADD COLUMN colour text NOT NULL",
        "ALTER TABLE jobs_worker ADD COLUMN colour text NOT NULL DEFAULT '', DROP COLUMN error",
        "ALTER TABLE cluster_pool ADD CONSTRAINT named CHECK (length(name) > 20)",
    ],
)
def test_a_migration_that_shuts_it_out_is_found(change: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(change)
    with pytest.raises(Error):
        FormerRelease().writes_everything()


def test_a_column_that_was_added_fills_itself_for_those_who_do_not_know_it() -> None:
    """Either it may be empty, or the database has a default; those of Django are Python's only."""
    added = (
        (migration.app_label, operation)
        for migration in MigrationLoader(None).disk_migrations.values()
        for operation in migration.operations
        if migration.app_label in former_release.APPLICATIONS
        if isinstance(operation, AddField) and not operation.field.is_relation
    )
    without = [
        f"{app}.{operation.model_name}.{operation.name}"
        for app, operation in added
        if (field := _field(app, operation)) and not field.null and not field.has_db_default()
    ]
    assert without == []


def _field(app: str, operation: AddField) -> Any:
    """As it is now; None: it was removed again before the first release."""
    fields = apps.get_model(app, operation.model_name)._meta.get_fields()  # noqa: SLF001
    return next((field for field in fields if field.name == operation.name), None)


class Interrupted(Command):
    """Somebody has a long transaction open, and something becomes of it at each pause."""

    lock_seconds = 0.05
    tries = 3

    def __init__(self, table: str, *, ends_at_pause: int) -> None:
        super().__init__(stderr=io.StringIO(), stdout=io.StringIO())
        self.pauses = 0
        self._ends_at_pause = ends_at_pause
        parameters = connection.get_connection_params()
        names = ("dbname", "user", "password", "host", "port")
        self._other = psycopg2.connect(**{name: parameters.get(name) for name in names})
        self._other.cursor().execute(f"LOCK TABLE {table} IN ACCESS SHARE MODE")

    def pause(self, _seconds: float) -> None:
        self.pauses += 1
        if self.pauses == self._ends_at_pause:
            self._other.close()


def test_what_was_squashed_comes_to_the_same_as_the_migrations_that_it_replaces() -> None:
    """They stay for databases that have been through some of them."""
    one_by_one = MigrationLoader(None, replace_migrations=False).project_state()
    squashed = MigrationLoader(None)
    differences = MigrationAutodetector(one_by_one, squashed.project_state())
    assert differences.changes(squashed.graph) == {}


@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_for_nobody_long_and_is_tried_again() -> None:
    command = Interrupted("what_if_simulation", ends_at_pause=2)
    try:
        call_command(command, "what_if", "zero", verbosity=0)
        assert command.pauses == 2
        assert "what_if_simulation" not in connection.introspection.table_names()
    finally:
        call_command("migrate", "what_if", verbosity=0)
    assert "what_if_simulation" in connection.introspection.table_names()


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_never_gets_its_table_says_what_to_look_for() -> None:
    command = Interrupted("what_if_simulation", ends_at_pause=Interrupted.tries)
    with pytest.raises(CommandError, match="end it, and migrate again"):
        call_command(command, "what_if", "zero", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
