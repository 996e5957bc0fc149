"""What does the former release write into the database? A row of each table, column by column.

`make former-release` writes down what the models of this checkout write. Done once when a release
is made, it is what the next one's migrations are held against: a process of the old release that is
still there during an upgrade goes on inserting, reading and updating just these columns.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

STORED: Final = Path(__file__).with_suffix(".json")
APPLICATIONS: Final = ("tenancy", "cluster", "jobs", "control_loop", "what_if")
ROW_OF: Final = "the row of "  # begins the value of a column that refers to another table
_MOMENT: Final = "2026-01-01T00:00:00+00:00"

Rows = dict[str, dict[str, Any]]  # column to value, by table


def read() -> Rows:
    rows: Rows = json.loads(STORED.read_text())
    return rows


def written_now() -> Rows:
    """By the models of this checkout; the database makes numbers of rows itself."""
    from django.apps import apps  # noqa: PLC0415 - needs settings
    from django.db.models import AutoField  # noqa: PLC0415 - as above

    return {
        _table_of(model): {
            field.column: _value(field)
            for field in model._meta.concrete_fields  # noqa: SLF001 - its name
            if not isinstance(field, AutoField)
        }
        for name in APPLICATIONS
        for model in apps.get_app_config(name).get_models()
    }


def _value(field: Any) -> Any:
    """As text that PostgreSQL reads, as it does what a driver sends; None: empty."""
    if field.is_relation:
        return None if field.null else ROW_OF + _table_of(field.related_model)
    if field.get_internal_type() == "JSONField":
        return json.dumps(field.get_default() if field.has_default() else {})
    if field.has_default() and not callable(field.default):
        return None if field.default is None else str(field.default)
    if field.null:
        return None
    if field.get_internal_type() == "DateTimeField":
        return _MOMENT
    # A number or a word, and more than 0.
    return str(field.choices[0][0]) if field.choices else "1"


def _table_of(model: Any) -> str:
    return str(model._meta.db_table)  # noqa: SLF001 - its name


def main() -> None:
    import django  # noqa: PLC0415 - only the command sets it up

    anything = {"DATABASE_URL": "postgresql:///none", "REDIS_URL": "redis:///0"}
    os.environ.update(anything, CONCERTINA_SECRET_KEY="x" * 50)
    os.environ["DJANGO_SETTINGS_MODULE"] = "control_plane.settings"
    django.setup()
    STORED.write_text(json.dumps(written_now(), indent=1) + "\n")


if __name__ == "__main__":
    main()
