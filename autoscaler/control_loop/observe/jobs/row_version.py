"""Was a row written since it was read? PostgreSQL numbers its versions."""

from __future__ import annotations

from typing import Any

from django.db.models import Func, TextField


class RowVersion(Func):
    """Names the version of the row that a field is in; every write of the row makes a new one.

    It is the transaction that wrote the row, and where it wrote it, for one may write a row twice.
    None where an outer join found no row. A database that was restored counts anew: a process must
    not compare versions of before and after.
    """

    output_field = TextField()

    def as_sql(self, compiler: Any, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        (column,) = self.get_source_expressions()
        row = compiler.quote_name_unless_alias(column.alias)
        return f"{row}.xmin::text || {row}.ctid::text", ()
