"""How is the database emptied after a test that committed? Only where something is in it.

Django's way truncates every table, and then writes the names of all models and permissions anew,
which takes longer than most of these tests.
"""

from __future__ import annotations

from typing import Any, Final

from django.db import connections, transaction
from django.test import TransactionTestCase
from psycopg2.sql import SQL, Composed, Identifier, Literal

# Migrations fill these, and nobody else.
_KEPT: Final = {"django_migrations", "django_content_type", "auth_permission"}


def install() -> None:
    """Let all tests that commit end so."""
    TransactionTestCase._fixture_teardown = _empty_all  # type: ignore[attr-defined]  # noqa: SLF001


def _empty_all(case: Any) -> None:
    for name in case._databases_names(include_mirrors=False):  # noqa: SLF001 - this is its method
        empty(connections[name])


def empty(connection: Any) -> None:
    """In one transaction, in any order: foreign keys are looked at when it ends."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor)) - _KEPT
        cursor.execute("SET LOCAL concertina.forgets_audit = 'yes'")  # as its own rule does
        cursor.execute(_which_have_rows(sorted(tables)))
        for (table,) in cursor.fetchall():
            cursor.execute(SQL("DELETE FROM {}").format(Identifier(table)))


def _which_have_rows(tables: list[str]) -> Composed:
    one = SQL("(SELECT {} FROM {} LIMIT 1)")
    return SQL(" UNION ALL ").join(one.format(Literal(name), Identifier(name)) for name in tables)
