"""Can this be where a Docker daemon listens?"""

from __future__ import annotations

from urllib.parse import urlsplit


def is_docker_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "unix":
        return not parts.netloc and bool(parts.path)
    return parts.scheme in {"ssh", "tcp"} and bool(parts.hostname)
