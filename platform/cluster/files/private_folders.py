"""How is a folder made whose content is nobody else's business? There are secrets in some."""

from __future__ import annotations

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder; if need be, in one that is closed to others as well."""
    for one in (folder.parent, folder):
        one.mkdir(parents=True, exist_ok=True, mode=0o700)
