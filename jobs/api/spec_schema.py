"""How does OpenAPI describe a job spec? It uses the pydantic models that check specs."""

from __future__ import annotations

from typing import Any, Final

from jobs.spec.arrays.terms import ArraySpec
from jobs.spec.bulk import MOST_JOBS
from jobs.spec.changes import CHANGEABLE
from jobs.spec.job_spec import JobSpec

_REFERENCE: Final = {"$ref": "#/components/schemas/JobSpec"}
JOB_SPEC_BODY: Final = {"application/json": _REFERENCE, "application/yaml": _REFERENCE}
_CHANGES: Final = {"$ref": "#/components/schemas/JobChanges"}
JOB_CHANGES_BODY: Final = {"application/json": _CHANGES, "application/yaml": _CHANGES}
_PART: Final = {"type": "object", "additionalProperties": {}}
JOB_SPEC_PART_BODY: Final = {"application/json": _PART, "application/yaml": _PART}
_BULK: Final = {"$ref": "#/components/schemas/Bulk"}
BULK_BODY: Final = {"application/json": _BULK, "application/yaml": _BULK}
_BULK_FORMS: Final = (
    {
        "type": "object",
        "required": ["jobs"],
        "additionalProperties": False,
        "properties": {
            "jobs": {
                "type": "array",
                "items": _REFERENCE,
                "minItems": 1,
                "maxItems": MOST_JOBS,
            }
        },
    },
    {
        "type": "object",
        "required": ["spec"],
        "additionalProperties": False,
        "properties": {
            "spec": {
                "type": "object",
                "required": ["array"],
                "properties": {"array": {"$ref": "#/components/schemas/ArraySpec"}},
                "additionalProperties": True,
                "description": "A job spec with an array; a job is made for each of its trials.",
            }
        },
    },
    {
        "type": "object",
        "required": ["spec", "changes"],
        "additionalProperties": False,
        "properties": {
            "spec": {
                "type": "object",
                "additionalProperties": True,
                "description": "A job spec; each job gets it with one of the changes.",
            },
            "changes": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_JOBS,
                "items": {
                    "type": "object",
                    "additionalProperties": True,
                    "description": "Values by their paths in the spec.",
                    "example": {"name": "lr-1e-3", "env.LR": "0.001", "seed": 7},
                },
            },
        },
    },
)
_ALIASES: Final = {
    "array": {
        "allOf": [{"$ref": "#/components/schemas/ArraySpec"}],
        "description": "Makes a job for each trial: in a bulk and in a check only.",
    },
    "sweep": {
        "allOf": [{"$ref": "#/components/schemas/SweepTerms"}],
        "description": "Makes trials one after the other: of `submit_sweep` and in a check only.",
    },
    "template": {
        "type": "string",
        "maxLength": 40,
        "description": "A template of the team, which fills in what is left out.",
    },
    "project": {"type": "string", "description": "Also accepted for `team`."},
    "max_restarts": {"type": "integer", "description": "Also accepted for `retry.max_restarts`."},
}


def add_job_spec(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the spec's schemas to the generated document (a drf-spectacular hook)."""
    spec = JobSpec.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = spec.pop("$defs", {})
    parts["ArraySpec"] = ArraySpec.model_json_schema(ref_template="#/components/schemas/{model}")
    spec["properties"] |= _ALIASES
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    bulk = {"oneOf": list(_BULK_FORMS)}
    changes = _changes(spec, parts)
    described = {**parts, **schemas}  # a word that others use too has a sentence for each value
    schemas.update({"JobSpec": spec, "Bulk": bulk, "JobChanges": changes, **described})
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result


def _changes(spec: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Describe a part of a spec that has nothing but changeable fields."""
    changes: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    for field in CHANGEABLE:
        inner, described = changes, spec
        *outer, last = field.split(".")
        for name in outer:
            described = parts[_part_of(described["properties"][name])]
            nothing = {"type": "object", "properties": {}, "additionalProperties": False}
            inner = inner["properties"].setdefault(name, nothing)
        described = described["properties"][last]
        plain = {key: value for key, value in described.items() if key != "default"}
        inner["properties"][last] = {"anyOf": [plain, {"type": "null"}]}
    return changes


def _part_of(described: dict[str, Any]) -> str:
    """Return the name of the schema that a field is described by, if only as one of several."""
    references = [one["$ref"] for one in (described, *described.get("anyOf", ())) if "$ref" in one]
    return str(references[0].rpartition("/")[2])
