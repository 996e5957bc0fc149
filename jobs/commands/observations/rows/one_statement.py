"""How is all that several jobs report written in one statement? Each kind of rows gives its part.

Rows come as one JSON document, which PostgreSQL reads as a table: so the statement is the same text
however many jobs and rows there are. All parts see what was there before the statement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import connection

_OF_JOB: Final = {
    "coordinator_seen_at": "timestamptz",
    "model_bytes": "bigint",
    "is_measured": "boolean",
    "noise_scale": "float8",
    "first_noise_scale": "float8",
    "total_samples": "bigint",
    "checkpoint_step": "bigint",
    "trained_at": "timestamptz",
    "group_seen_at": "timestamptz",
    "mode": "text",
    "batch_limits": "jsonb",
    "warnings": "jsonb",
    "progress_at": "timestamptz",
    "step": "bigint",
    "epoch": "float8",
    "samples": "bigint",
    "samples_per_second": "float8",
    "values": "jsonb",
    "generation": "integer",
    "rescales": "integer",
    "last_rescaled_at": "timestamptz",
}
"""What a report may set of a job's row, and never empties."""

_WRITE: Final = """
    {parts}
    UPDATE jobs_job AS job SET {changes}
    FROM jsonb_to_recordset(%(jobs)s) AS reported (id text, {columns})
    WHERE job.id = reported.id RETURNING job.id, {answers}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementPart:
    """Some of what reports change: named queries (`WITH …`) that write one table."""

    name: str  # of the document with its rows
    queries: str
    of_job: Mapping[str, str] = field(default_factory=dict)  # columns of its row, in SQL
    answer: str = "0"  # what the caller wants to hear of each job, in SQL


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationDraft:
    """What is to be written for one job."""

    job_id: str
    changes: Mapping[str, Any]  # columns of its row; documents as they are
    rows: Mapping[str, Sequence[Mapping[str, Any]]]  # by the name of the part


def write(
    drafts: Sequence[ObservationDraft], parts: Sequence[StatementPart], now: datetime
) -> dict[str, list[int]]:
    """Write all drafts, each of another job; return what the parts wanted to hear, by job."""
    parameters: dict[str, Any] = {"now": now}
    used = []
    for part in parts:
        rows = [row for draft in drafts for row in draft.rows.get(part.name, ())]
        if rows:
            parameters[part.name] = _document(rows)
            used.append(part)
    columns = [name for name in _OF_JOB if any(name in draft.changes for draft in drafts)]
    parameters["jobs"] = _document([{"id": one.job_id, **one.changes} for one in drafts])
    changes = {name: f'coalesce(reported."{name}", job."{name}")' for name in columns}
    for part in used:
        changes |= part.of_job
    queries = ", ".join(part.queries for part in used)
    statement = _WRITE.format(
        parts=f"WITH {queries}" if queries else "",
        changes=", ".join(f'"{name}" = {value}' for name, value in changes.items()),
        columns=", ".join(f'"{name}" {_OF_JOB[name]}' for name in columns),
        answers=", ".join(part.answer if part in used else "0" for part in parts),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return {job_id: answer for job_id, *answer in cursor.fetchall()}


def _document(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows in the form that `jsonb_to_recordset` takes."""
    return json.dumps(rows, separators=(",", ":"), default=_moment)


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} cannot be written")
