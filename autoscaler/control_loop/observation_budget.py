"""For how long may a tick look into jobs of which something is new? The others come in the next.

To fit a job's speed takes milliseconds, so a process that has just begun would need minutes for
ten thousand jobs, and look after nobody meanwhile. Who is put off stays as it was seen last or, if
it never was, where it stands; the next tick begins with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

OBSERVATION_SECONDS: Final = 2.0  # guessed: several hundred fits; trades long ticks for how many


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationBudget:
    """A budget of so many seconds of the processor from now on, as `clock` counts them."""

    seconds: float = math.inf
    clock: Callable[[], float] = time.process_time
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_began", self.clock())

    def is_up(self) -> bool:
        return self.clock() - self._began >= self.seconds
