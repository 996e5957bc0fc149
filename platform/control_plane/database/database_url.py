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


# Of a primary and its standbys, only the primary takes writes; which one that is changes.
_OF_SEVERAL: Final = {"target_session_attrs": "read-write"}


def parse(url: str) -> dict[str, Any]:
    """Return Django's settings for `postgresql://user:password@host:port/name`.

    A primary and its standbys are given as `host1:port1,host2:port2`: each connection goes to the
    one that takes writes. A unix socket folder is given as
    `postgresql://user@/name?host=/path/to/folder`. Everything else in the query goes to libpq,
    before what is said here.

    Raises:
        ValueError: it is not a PostgreSQL URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL: {parts.scheme!r} is not PostgreSQL; use postgresql://…")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    hosts, ports = _addresses(parts.netloc.rpartition("@")[2])
    host, port = query.pop("host", hosts), query.pop("port", ports)
    is_tcp = bool(host) and not host.startswith("/")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port,
        "OPTIONS": (OVER_TCP if is_tcp else {}) | (_OF_SEVERAL if "," in host else {}) | query,
    }


def _addresses(netloc: str) -> tuple[str, str]:
    """Return the hosts and the ports of `host:port,host:port`, each as libpq takes them."""
    found = [urlsplit(f"//{one}") for one in netloc.split(",")]
    ports = [str(one.port or "") for one in found]
    hosts = [unquote(one.hostname or "") for one in found]
    return ",".join(hosts), ",".join(ports) if any(ports) else ""
