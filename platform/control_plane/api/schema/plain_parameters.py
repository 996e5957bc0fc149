"""How does OpenAPI say which characters an address may not contain? Each parameter says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_NO_NULL: Final = r"^[^\x00]*$"  # `plain_addresses` refuses the others
_UUID: Final = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_TELL_ALREADY: Final = frozenset({"enum", "format", "pattern"})


def add_patterns(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add a pattern to each parameter that is any text (a drf-spectacular hook)."""
    for schema in _schemas_of_parameters(result):
        for one in (schema, schema.get("items", {})):
            if one.get("format") == "uuid":  # which validators take for a remark
                one["pattern"] = _UUID
            elif one.get("type") == "string" and not _TELL_ALREADY & one.keys():
                one["pattern"] = _NO_NULL
    return result


def _schemas_of_parameters(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                yield parameter["schema"]
