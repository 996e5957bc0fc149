"""What does a `DATABASE_URL` mean to Django?"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


def parse(url: str) -> dict[str, Any]:
    """Django's settings for `postgresql://user:password@host:port/name`.

    A unix socket folder is given as `postgresql://user@/name?host=/path/to/folder`.

    Raises:
        ValueError: not a PostgreSQL URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL: {parts.scheme!r} is not PostgreSQL; use postgresql://…")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", unquote(parts.hostname or "")),
        "PORT": str(parts.port or query.pop("port", "")),
        "OPTIONS": query,
    }
