"""What does a `REDIS_URL` mean to Celery?"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit


def broker_url(url: str) -> str:
    """Celery's words for `redis://host:port/0` or `unix:///path/to/socket?db=0`.

    Raises:
        ValueError: neither of the two.
    """
    parts = urlsplit(url)
    if parts.scheme in {"redis", "rediss"}:
        return url
    if parts.scheme != "unix":
        raise ValueError(f"REDIS_URL: {parts.scheme!r} is not Redis; use redis://… or unix://…")
    database = parse_qs(parts.query).get("db", ["0"])[-1]
    return f"redis+socket://{parts.path}?virtual_host={database}"
