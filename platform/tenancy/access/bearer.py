"""Which key does an `Authorization` header bear? Read in one way by all who look at it."""

from __future__ import annotations


def bearer_key(authorization: str) -> str | None:
    """The key, without blanks around it; None: the header is of another scheme, or empty."""
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None
