"""How far did the training come? Eight bytes beside the checkpoints, written at every step.

They outlive the workers and their coordinator, so that what is made again after all of them died
is counted. They are not synced: a power cut of the machine may forget the last steps.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

_NAME: Final = "furthest-step"
_STEP: Final = struct.Struct("<Q")


class FurthestStep:
    """The file of one job. A disk that refuses it costs the count, never the training."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def note(self, step: int) -> None:
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._folder / _NAME, os.O_RDWR | os.O_CREAT, 0o600)
            os.pwrite(self._file, _STEP.pack(step), 0)
        except OSError:
            return

    def read(self) -> int:
        """0 where nobody could note it."""
        try:
            return int(_STEP.unpack((self._folder / _NAME).read_bytes())[0])
        except (OSError, struct.error):
            return 0
