"""What is the body of an error? `code`, `message` and `details`, wherever it is made."""

from __future__ import annotations

from typing import Any


def envelope(
    code: str, message: str, details: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the body of an error."""
    return {"code": code, "message": message, "details": details or []}
