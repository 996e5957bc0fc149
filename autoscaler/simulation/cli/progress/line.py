"""Where and how often is it shown how far the simulations are?

On a terminal one line is written over, several times a second. Elsewhere, in a pipe or a log of CI,
a line comes every half minute, the first as soon as it can tell how long it will take.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.simulation.cli.progress.pace import SimulationRate
    from autoscaler.simulation.cli.progress.remaining import ProgressSign

SECONDS_BETWEEN_LINES: Final = 30.0
SECONDS_BETWEEN_REWRITES: Final = 0.2
_TO_THE_START: Final = "\r\x1b[K"  # of the line, which is emptied
_USUAL_WIDTH: Final = 80


@dataclass(slots=True, kw_only=True)
class ProgressLine:
    """Shows a pace as it grows. `write` gets text for people, `clock` tells seconds."""

    pace: SimulationRate
    write: Callable[[str], None]
    clock: Callable[[], float]
    is_terminal: bool
    _began_at: float | None = None
    _written_at: float | None = None

    def __call__(self, label: str, sign: ProgressSign | None) -> None:
        now = self.clock()
        self.pace.note(label, sign, now)
        if self._began_at is None:
            self._began_at = now
        if self._is_due(now, now - self._began_at):
            self._written_at = now
            line = self.pace.sentence(now)
            cut = line[: _width() - 1]
            self.write(f"{_TO_THE_START}{cut}" if self.is_terminal else f"{line}\n")

    def close(self) -> None:
        """Nothing is left of the line on a terminal."""
        if self.is_terminal and self._written_at is not None:
            self.write(_TO_THE_START)

    def _is_due(self, now: float, elapsed: float) -> bool:
        if self._written_at is not None:
            pause = SECONDS_BETWEEN_REWRITES if self.is_terminal else SECONDS_BETWEEN_LINES
            return now - self._written_at >= pause
        takes_long = bool(self.pace.seconds_left(now)) or elapsed >= SECONDS_BETWEEN_LINES
        return self.is_terminal or takes_long


def _width() -> int:
    try:
        return os.get_terminal_size(2).columns or _USUAL_WIDTH
    except OSError:
        return _USUAL_WIDTH
