"""How does OpenAPI describe the spec of a sweep? It uses the pydantic models that check it."""

from __future__ import annotations

from typing import Any, Final

from sweeps.search.terms import SweepTerms

_SWEEP: Final = {
    "type": "object",
    "required": ["sweep"],
    "properties": {"sweep": {"$ref": "#/components/schemas/SweepTerms"}},
    "additionalProperties": True,
    "description": "A job spec with a sweep; each trial is a job.",
}
SWEEP_BODY: Final = {"application/json": _SWEEP, "application/yaml": _SWEEP}


def add_sweep_terms(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the field's schemas to the generated document (a drf-spectacular hook)."""
    terms = SweepTerms.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = terms.pop("$defs", {})
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    described = {**parts, "SweepTerms": terms, **schemas}
    result["components"]["schemas"] = dict(sorted(described.items()))
    return result
