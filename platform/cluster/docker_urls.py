"""Can this be where a Docker daemon listens?"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError


def check_docker_url(url: str) -> None:
    """Raises: ValidationError, of a node's `docker_url`."""
    if url and not _is_address(url):
        told = "Write unix:///PATH, ssh://USER@HOST, or tcp://HOST:2376 for one with TLS."
        raise ValidationError({"docker_url": told})


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "unix":
        return not parts.netloc and bool(parts.path)
    return parts.scheme in {"ssh", "tcp"} and bool(parts.hostname)
