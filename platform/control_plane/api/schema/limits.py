"""How does OpenAPI describe the bounds on requests? Every operation says its own."""

from __future__ import annotations

from typing import Any, Final

_NOT_COUNTED: Final = frozenset({"get_health"})
_METHODS: Final = frozenset({"get", "put", "post", "patch", "delete"})
_ERROR: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}


def _whole(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer", "minimum": 0}}


_HEADERS: Final[dict[str, Any]] = {
    "RateLimit-Limit": _whole("Requests of this kind that may be made at once."),
    "RateLimit-Remaining": _whole("How many of them are left."),
    "RateLimit-Reset": _whole("Seconds until all of them are there again."),
    "RateLimit-Policy": {
        "description": "The limit and in how many seconds it fills up: `1000;w=10`.",
        "schema": {"type": "string"},
    },
    "Retry-After": _whole("Seconds after which to try again."),
}
_RESPONSES: Final[dict[str, Any]] = {
    "TooManyRequests": {
        "description": "The token, the person or the address asked too often.",
        "content": _ERROR,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS},
    },
    "TooLarge": {"description": "The body is too large; it was not read.", "content": _ERROR},
    "TooSlow": {"description": "The body was not here in time.", "content": _ERROR},
    "Unavailable": {
        "description": "The service, or its database, cannot answer now.",
        "content": _ERROR,
        "headers": {"Retry-After": {"$ref": "#/components/headers/Retry-After"}},
    },
}


def add_limits(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add headers and refusals to each operation (a drf-spectacular hook)."""
    components = result.setdefault("components", {})
    components.setdefault("headers", {}).update(_HEADERS)
    components.setdefault("responses", {}).update(_RESPONSES)
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if method in _METHODS:
                _add_to(operation)
    return result


def _add_to(operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    if operation["operationId"] not in _NOT_COUNTED:
        for answer in answers.values():
            answer.setdefault("headers", {}).update(_told())
        answers["429"] = {"$ref": "#/components/responses/TooManyRequests"}
    if "requestBody" in operation:
        answers["408"] = {"$ref": "#/components/responses/TooSlow"}
        answers["413"] = {"$ref": "#/components/responses/TooLarge"}
    answers.setdefault("503", {"$ref": "#/components/responses/Unavailable"})
    operation["responses"] = dict(sorted(answers.items()))


def _told() -> dict[str, Any]:
    return {
        name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS if name != "Retry-After"
    }
