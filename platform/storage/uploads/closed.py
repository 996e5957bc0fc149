"""How does a folder become one that nobody writes to, and how does it go again?"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

FILE: Final = 0o444
PROGRAM: Final = 0o555
_FOLDER: Final = 0o555


def close(folder: Path) -> None:
    """Keep everybody from adding to it, and from taking away."""
    for inner, _, _ in os.walk(folder, topdown=False):
        Path(inner).chmod(_FOLDER)


def remove(folder: Path) -> None:
    """Remove one that was closed, if it is there."""
    for inner, _, _ in os.walk(folder):
        Path(inner).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
