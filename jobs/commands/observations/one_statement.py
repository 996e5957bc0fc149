"""How is all of a report written in one statement? Each kind of rows gives its part of it.

Rows come as one JSON document, which PostgreSQL reads as a table: so a part is the same text
however many rows there are. All parts see what was there before the statement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connection

_JOB: Final = "UPDATE jobs_job SET {changes} WHERE id = %(job)s RETURNING {told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some of what a report changes: named queries (`WITH …`) that write one table."""

    queries: str
    parameters: Mapping[str, Any]
    of_job: Mapping[str, str] = field(default_factory=dict)  # columns of its row, in SQL
    told: Mapping[str, str] = field(default_factory=dict)  # what the caller wants to hear, in SQL


def rows(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return rows in the form that `jsonb_to_recordset` takes."""
    return json.dumps(documents, separators=(",", ":"))


def write(
    job_id: str, changes: Mapping[str, Any], parts: Sequence[Part], now: Any
) -> dict[str, int]:
    """Set columns of the job's row and write the parts; return what the parts wanted to hear."""
    of_job = {name: f"%(set_{name})s" for name in changes}
    parameters = {f"set_{name}": value for name, value in changes.items()}
    told: dict[str, str] = {"seen": "1"}
    for part in parts:
        of_job |= part.of_job
        told |= part.told
        parameters |= part.parameters
    statement = _JOB.format(
        changes=", ".join(f'"{name}" = {value}' for name, value in of_job.items()),
        told=", ".join(told.values()),
    )
    if parts:
        statement = f"WITH {', '.join(part.queries for part in parts)} {statement}"
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters | {"job": job_id, "now": now})
        return dict(zip(told, cursor.fetchone(), strict=True))
