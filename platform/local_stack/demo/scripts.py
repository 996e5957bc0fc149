"""Where do the demo's scripts lie, and who runs them? In this checkout, or in an image."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """The examples, as the demo's jobs find them."""

    python: str
    folder: PurePosixPath
    image: str | None = None  # None: there are no containers

    def command(self, name: str, *arguments: str) -> list[str]:
        """Return what runs one of them."""
        return [self.python, str(self.folder / name), *arguments]


def of_checkout(root: Path) -> Scripts:
    """The scripts of this checkout, run by the Python that runs us."""
    return Scripts(python=sys.executable, folder=PurePosixPath(root / "examples"))


def of_image(image: str) -> Scripts:
    """The scripts that were put into the demo's image."""
    return Scripts(python="python", folder=PurePosixPath("/examples"), image=image)
