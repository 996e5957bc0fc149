"""Does each index of the tables that grow answer something that no other index answers?"""

from __future__ import annotations

from typing import Final

import pytest
from django.db import connection

# Every row that is written is written into each index of its table, too.
_INDEXES: Final = """
    SELECT "table".relname, "index".relname, string_to_array(entry.indkey::text, ' '),
           entry.indisunique, entry.indpred IS NULL,
           EXISTS (
               SELECT FROM unnest(entry.indclass::oid[]) AS class JOIN pg_opclass ON oid = class
               WHERE opcname LIKE '%%_pattern_ops'
           )
    FROM pg_index AS entry
    JOIN pg_class AS "index" ON "index".oid = entry.indexrelid
    JOIN pg_class AS "table" ON "table".oid = entry.indrelid
    WHERE "table".relname = ANY(%s)
"""
GROWING: Final = (
    *("jobs_job", "jobs_worker", "jobs_gpuclaim", "jobs_assignment", "jobs_generation"),
    *("jobs_event", "jobs_metricpoint", "jobs_measurement", "jobs_prediction"),
    *("jobs_idempotencykey", "jobs_quarantine", "jobs_usagepoint", "control_loop_tick"),
)


@pytest.mark.django_db
def test_no_index_is_the_beginning_of_another() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES, [[*GROWING]])
        found = cursor.fetchall()
    columns = {(table, name): keys for table, name, keys, _, is_whole, _ in found if is_whole}
    repeated = {
        name
        for table, name, keys, is_unique, is_whole, _ in found
        if is_whole and not is_unique and _begins_another(table, name, keys, columns)
    }
    for_beginnings_of_texts = {name for _, name, *_, is_pattern in found if is_pattern}
    assert {table for table, _ in columns} == set(GROWING)
    assert (repeated, for_beginnings_of_texts) == (set(), set())


def _begins_another(
    table: str, name: str, keys: list[str], columns: dict[tuple[str, str], list[str]]
) -> bool:
    return any(
        (table, name) != (of, other) and of == table and other_keys[: len(keys)] == keys
        for (of, other), other_keys in columns.items()
    )
