"""How much is there in a folder that came?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What is in a folder that came."""

    files: int
    folders: int
    bytes: int
