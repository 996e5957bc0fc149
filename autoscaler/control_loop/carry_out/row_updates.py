"""How are many rows of a table changed at once, each to values of its own? In one statement."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import CharField, JSONField, Model, TextField


def update(model: type[Model], changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Write these columns of these rows, in a statement for each set of columns.

    Args:
        model: one whose primary key is text.
        changes: by primary key: the new values, by the name of the field.
    """
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, columns in changes.items():
        if columns:
            alike[tuple(sorted(columns))].append(key)
    for names, keys in alike.items():
        _update(model, names, {key: changes[key] for key in keys})


def _update(
    model: type[Model], names: tuple[str, ...], changes: Mapping[str, Mapping[str, Any]]
) -> None:
    fields = [one for one in model._meta.concrete_fields if one.name in names]  # noqa: SLF001
    table, key = model._meta.db_table, model._meta.pk.column  # noqa: SLF001
    sets = ", ".join(f'"{one.column}" = {_read(one)}' for one in fields)
    columns = ", ".join(f'"{one.column}"' for one in fields)
    arrays = ", ".join(f"%s::{_type(one)}[]" for one in fields)
    values = [[_value(one, new[one.name]) for new in changes.values()] for one in fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f'UPDATE "{table}" SET {sets} FROM unnest(%s::text[], {arrays})'  # noqa: S608 - own names
            f' AS said ("{key}", {columns}) WHERE "{table}"."{key}" = said."{key}"',
            [list(changes), *values],
        )


def _type(field: Any) -> str:
    """Text is no `varchar(40)` here: a cast would cut off what is too long, and say nothing."""
    if isinstance(field, CharField | TextField | JSONField):
        return "text"
    return str(field.db_type(connection))


def _read(field: Any) -> str:
    read = f'said."{field.column}"'
    return f"{read}::jsonb" if isinstance(field, JSONField) else read


def _value(field: Any, value: Any) -> Any:
    if isinstance(field, JSONField):
        return json.dumps(value)
    return field.get_db_prep_save(value, connection)
