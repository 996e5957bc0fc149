"""Can this be where the api is, as seen from a container of another machine?"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError


def check_service_url(url: str) -> None:
    """Raises: ValidationError, of a node's `service_url`."""
    if url and not _is_address(url):
        hint = "Write https://HOST or http://HOST:PORT, of a host that this node reaches."
        raise ValidationError({"service_url": hint})


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_itself = host in {"localhost", "::1"} or host.startswith("127.")
    return parts.scheme in {"http", "https"} and bool(host) and not is_itself
