"""Which image registry does a host name mean? Each is written in one way only."""

from __future__ import annotations

import re
from typing import Final

DOCKER_HUB: Final = "docker.io"
_HUBS_OTHER_NAMES: Final = frozenset({"index.docker.io", "registry-1.docker.io"})
_REGISTRY: Final = re.compile(
    r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?"
)
_LONGEST_REGISTRY: Final = 255


def canonical_registry(host: str) -> str:
    """Write a registry in its one way: in lower case, and Docker's own under one name."""
    lowered = host.lower()
    return DOCKER_HUB if lowered in _HUBS_OTHER_NAMES else lowered


def is_registry(host: str) -> bool:
    return len(host) <= _LONGEST_REGISTRY and _REGISTRY.fullmatch(host) is not None
