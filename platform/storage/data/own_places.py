"""Where is the service itself? Nothing is fetched from there, and nothing of users' sent there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

_POSTGRESQL: Final = 5432
_PORTS: Final = {"redis": 6379, "rediss": 6379, "http": 80, "https": 443}


def own_places(database: Mapping[str, Any], urls: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return hosts and ports of the database, as Django's settings have it, and of addresses."""
    hosts = str(database.get("HOST") or "").split(",")
    ports = str(database.get("PORT") or _POSTGRESQL).split(",")
    parts = [urlsplit(url) for url in urls]
    own = [(host, int(port)) for host in hosts for port in ports if host and host[0] != "/"]
    own += [
        (part.hostname, part.port or _PORTS.get(part.scheme, 0)) for part in parts if part.hostname
    ]
    return tuple(own)
