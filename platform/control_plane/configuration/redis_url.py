"""What does a `REDIS_URL` mean to Celery?"""

from __future__ import annotations

import socket
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

# A server whose machine vanished is given up after a minute, as a database is (`database_url`).
# Celery drops what is about TCP where the address is a socket's.
PATIENCE: Final[dict[str, Any]] = {
    "socket_connect_timeout": 10.0,
    "socket_timeout": 60.0,  # of a command; who waits for a task asks for a second at a time
    "socket_keepalive": True,
    "socket_keepalive_options": {
        socket.TCP_KEEPIDLE: 30,
        socket.TCP_KEEPINTVL: 10,
        socket.TCP_KEEPCNT: 3,
        socket.TCP_USER_TIMEOUT: 60_000,  # milliseconds
    },
}


def broker_url(url: str) -> str:
    """Translate `redis://host:port/0` or `unix:///path/to/socket?db=0` for Celery.

    Raises:
        ValueError: it is neither of the two.
    """
    parts = urlsplit(url)
    if parts.scheme in {"redis", "rediss"}:
        return url
    if parts.scheme != "unix":
        raise ValueError(f"REDIS_URL: {parts.scheme!r} is not Redis; use redis://… or unix://…")
    database = parse_qs(parts.query).get("db", ["0"])[-1]
    return f"redis+socket://{parts.path}?virtual_host={database}"
