"""Does every name by which statements find a field in a stored spec belong to the spec of today?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jobs.spec import stored_fields
from jobs.spec.job_spec import JobSpec
from jobs.spec.stored_fields import StoredField

ROOT = Path(__file__).parents[2]
FIELDS = {name: one for name, one in vars(stored_fields).items() if isinstance(one, StoredField)}
LOOSE = re.compile(r"""resolved_spec(__\w|"?\s*(#>|->)|\[|\.get\()|KeyTransform\(.*resolved_spec""")
EARLIER = ("migrations",)  # what they read stays as it was


@pytest.mark.parametrize("name", FIELDS)
def test_each_stored_field_is_one_of_the_spec(name: str) -> None:
    stored = JobSpec.model_validate({"name": "a", "command": ["true"]}).resolved(team="", pool="")
    definitions = JobSpec.model_json_schema()
    place: dict[str, Any] = definitions
    for step in FIELDS[name].names:
        assert step in place["properties"], f"{name}: the spec has no {step} there"
        place = _followed(place["properties"][step], definitions["$defs"])
    assert FIELDS[name].names[0] in stored


def _followed(place: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return the part that a field is, whether or not it may be left out."""
    named = next((one for one in (place, *place.get("anyOf", ())) if "$ref" in one), None)
    return parts[named["$ref"].rpartition("/")[2]] if named else place


def test_a_stored_field_is_found_by_queries_statements_and_paths() -> None:
    field = stored_fields.MIN_WORKERS
    assert field.lookup == "resolved_spec__elastic__min_workers"
    assert field.sql == "job.resolved_spec #> '{elastic,min_workers}'"
    assert field.sql_text == "job.resolved_spec #>> '{elastic,min_workers}'"
    assert field.json_path == "@.elastic.min_workers"


def test_nobody_else_spells_where_a_field_is_in_a_stored_spec() -> None:
    loose = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("platform", "jobs", "autoscaler")
        for path in (ROOT / folder).rglob("*.py")
        if not set(EARLIER) & set(path.parts)
        for line in path.read_text().splitlines()
        if LOOSE.search(line)
    ]
    assert loose == []
