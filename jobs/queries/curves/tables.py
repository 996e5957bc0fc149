"""How do all points of a job become a file? PostgreSQL writes it, in one statement.

So it is of one moment, although points are rolled up meanwhile, and takes no memory here. A curve
has some ten thousand points, however long its job ran; only one of many values can be too long.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime
from enum import StrEnum
from typing import IO, Any, Final

from django.db import connection
from django.utils import timezone

from jobs.errors import TableTooLarge
from jobs.models import Job
from jobs.queries.curves.stored import EVERY, parameters

MOST_BYTES: Final = 64 << 20
MOST_NAMES: Final = 500  # of what a script logged, each of which is a column
_SOURCES: Final = {
    "every": (
        *("generation", "step", "epoch", "samples", "samples_per_second", "step_seconds"),
        *("compute_seconds", "communication_seconds", "learning_rate"),
    ),
    "ran": ("workers", "global_batch_size"),
}
_PLACES: Final = {name: f"{of}.{name}" for of, names in _SOURCES.items() for name in names}
COLUMNS: Final = ("at", *_PLACES)
_AT: Final = """to_char(every.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_FROM: Final = """
    FROM every LEFT JOIN jobs_generation ran
        ON ran.job_id = %(job)s AND ran.number = every.generation
    ORDER BY every.at, every.generation, every.step
"""
_NAMES: Final = f"""
    {EVERY}
    SELECT DISTINCT name FROM every, jsonb_object_keys("values") AS name
    ORDER BY name LIMIT %(most)s
"""  # noqa: S608 - constants
_DOCUMENTS: Final = f"""
    {EVERY}
    SELECT jsonb_build_object({", ".join(f"'{name}', {place}" for name, place in _PLACES.items())})
        || jsonb_build_object('at', {_AT}, 'values', every."values")
    {_FROM}
"""


class TableFormat(StrEnum):
    """How a table is written."""

    CSV = "csv"  # a column `values.NAME` for each name that the script logged
    JSON = "json"  # a document as the list of points is, with a line for each


def write(
    job: Job,
    file: IO[bytes],
    kind: TableFormat,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> None:
    """Write all points between two moments, oldest first, as fine as they are kept.

    Raises:
        TableTooLarge: it would have too many bytes or columns.
    """
    bound = parameters(job, width=0, since=since, until=until, now=timezone.now())
    if kind is TableFormat.CSV:
        _write_csv(file, bound)
    else:
        _write_json(file, bound)


class _BoundedSink:
    """Takes what PostgreSQL writes, as long as it is not too much."""

    def __init__(self, file: IO[bytes], *, behind_lines: bytes = b"\n") -> None:
        self._file = file
        self._behind_lines = behind_lines

    def write(self, piece: bytes) -> int:
        if self._file.tell() > MOST_BYTES:
            raise TableTooLarge
        self._file.write(piece.replace(b"\n", self._behind_lines))
        return len(piece)


def _write_csv(file: IO[bytes], bound: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, bound | {"most": MOST_NAMES + 1})
        names = [name for (name,) in cursor.fetchall()]
        if len(names) > MOST_NAMES:
            raise TableTooLarge
        logged = (f'every."values"->>%(name{number})s' for number in range(len(names)))
        columns = [_AT, *_PLACES.values(), *logged]
        rows = f"{EVERY} SELECT {', '.join(columns)} {_FROM}"
        filled = cursor.mogrify(rows, bound | {f"name{n}": name for n, name in enumerate(names)})
        heading = io.StringIO()
        csv.writer(heading, lineterminator="\n").writerow(
            [*COLUMNS, *(f"values.{name}" for name in names)]
        )
        file.write(heading.getvalue().encode())
        with connection.wrap_database_errors:
            cursor.copy_expert(
                f"COPY ({filled.decode()}) TO STDOUT WITH (FORMAT csv)", _BoundedSink(file)
            )


def _write_json(file: IO[bytes], bound: dict[str, Any]) -> None:
    # A document has neither of these signs, so that it stands on its line as it is.
    as_it_is = "(FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01')"
    file.write(b'{"items": [\n')
    begin = file.tell()
    with connection.cursor() as cursor, connection.wrap_database_errors:
        filled = cursor.mogrify(_DOCUMENTS, bound).decode()
        cursor.copy_expert(
            f"COPY ({filled}) TO STDOUT WITH {as_it_is}", _BoundedSink(file, behind_lines=b",\n")
        )
    if file.tell() > begin:
        file.seek(-len(b",\n"), io.SEEK_END)
    file.write(b"\n]}\n")
    file.truncate()
