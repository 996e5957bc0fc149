"""Are processors short, so that what one takes another has to wait for?

Where they are not, nobody gains by keeping a team to its share. Linux tells for how much of the
last seconds somebody waited for a processor; where it does not tell, they are taken for short. And
a process has one interpreter, whose threads wait for each other however many processors are free.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

SHORT_FROM_PERCENT: Final = 10.0  # guessed: of the last ten seconds somebody waited so much
BUSY_FROM: Final = 0.7  # guessed: of one processor, used by this process
_BETWEEN_LOOKS_SECONDS: Final = 1.0
_FILE: Final = Path("/proc/pressure/cpu")
_SOME: Final = re.compile(r"some avg10=([0-9.]+)")


class Pressure:
    """Measures once a second, however often it is asked."""

    def __init__(
        self,
        file: Path = _FILE,
        *,
        clock: Callable[[], float] = time.monotonic,
        used_seconds: Callable[[], float] = time.process_time,
    ) -> None:
        self._file = file
        self._clock, self._used_seconds = clock, used_seconds
        self._looked_at, self._used = clock(), used_seconds()
        self._is_felt = True

    def is_felt(self) -> bool:
        """True if processors are short, or this process is busy."""
        now = self._clock()
        passed = now - self._looked_at
        if passed >= _BETWEEN_LOOKS_SECONDS:
            used = self._used_seconds()
            is_busy = used - self._used >= BUSY_FROM * passed
            self._looked_at, self._used = now, used
            self._is_felt = is_busy or self._is_short()
        return self._is_felt

    def _is_short(self) -> bool:
        try:
            pressure = _SOME.match(self._file.read_text())
        except OSError:
            return True
        return pressure is None or float(pressure[1]) >= SHORT_FROM_PERCENT
