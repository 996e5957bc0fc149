"""What does a `DATABASE_URL` mean to Django?"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

# A database whose machine vanished says nothing, and closes nothing: without these, who waits for
# its answer waits for a quarter of an hour, or for ever. libpq's names; seconds, but for the last,
# in milliseconds. Guessed: it is given up after a minute, as a session that is silent is.
OVER_TCP: Final = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


def parse(url: str) -> dict[str, Any]:
    """Return Django's settings for `postgresql://user:password@host:port/name`.

    A unix socket folder is given as `postgresql://user@/name?host=/path/to/folder`. Everything else
    in the query goes to libpq, before `OVER_TCP`.

    Raises:
        ValueError: it is not a PostgreSQL URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL: {parts.scheme!r} is not PostgreSQL; use postgresql://…")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    host = query.pop("host", unquote(parts.hostname or ""))
    is_tcp = bool(host) and not host.startswith("/")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or query.pop("port", "")),
        "OPTIONS": OVER_TCP | query if is_tcp else query,
    }
