"""Which key does an `Authorization` header carry? Everybody reads it in the same way."""

from __future__ import annotations


def bearer_key(authorization: str) -> str | None:
    """Return the key without blanks around it; None if the scheme is another, or it is empty."""
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None
