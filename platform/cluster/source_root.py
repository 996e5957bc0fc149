"""Where is the package `cluster`, for the programs of it that the service starts?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SOURCE_ROOT: Final = Path(__file__).resolve().parents[1]
