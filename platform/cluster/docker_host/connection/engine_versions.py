"""Is what runs a node's containers too old to keep them apart?

A version older than the first one with a fix is a complaint, not a refusal: distributions mend
older versions without giving them a new number, and nobody can tell from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Minimum:
    component: str  # as the daemon's answer to `version` calls it
    version: tuple[int, int, int]
    reason: str

    @property
    def text(self) -> str:
        return ".".join(map(str, self.version))


# NVIDIA's container toolkit, which must be 1.17.8 or newer, tells no daemon its version.
_MINIMA: Final = (
    _Minimum(
        component="Engine",
        version=(20, 10, 0),
        reason="nothing older was tried",
    ),
    _Minimum(
        component="runc",
        version=(1, 1, 12),
        reason="before it a container's working directory could lead out of it (CVE-2024-21626)",
    ),
)


def complaints(version: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about components that are too old, from the daemon's answer to `version`."""
    components = version.get("Components") or ()
    known = {one.get("Name"): str(one.get("Version", "")) for one in components}
    for minimum in _MINIMA:
        text = known.get(minimum.component)
        found = _NUMBERS.search(text) if text else None
        if text and found and _as_numbers(found) < minimum.version:
            yield (
                f"{minimum.component} {text} is older than {minimum.text}: {minimum.reason}."
                " Upgrade it, or see that your distribution has mended it."
            )


def _as_numbers(found: re.Match[str]) -> tuple[int, int, int]:
    major, minor, patch = found.groups(default="0")
    return int(major), int(minor), int(patch)
