"""How does OpenAPI describe a job spec? It uses the pydantic models that check specs."""

from __future__ import annotations

from typing import Any, Final

from jobs.spec.job_spec import JobSpec

_REFERENCE: Final = {"$ref": "#/components/schemas/JobSpec"}
JOB_SPEC_BODY: Final = {"application/json": _REFERENCE, "application/yaml": _REFERENCE}
_ALIASES: Final = {
    "project": {"type": "string", "description": "Also accepted for `team`."},
    "max_restarts": {"type": "integer", "description": "Also accepted for `retry.max_restarts`."},
}


def add_job_spec(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the spec's schemas to the generated document (a drf-spectacular hook)."""
    spec = JobSpec.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = spec.pop("$defs", {})
    spec["properties"] |= _ALIASES
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update({"JobSpec": spec, **parts})
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result
