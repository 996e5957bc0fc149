"""How soon does a test look again at what has not come true yet? The longer it waited, the later.

To look costs processor time, of the service, of a daemon or of a whole tick, which what the test
waits for could have.
"""

from __future__ import annotations

import time
from typing import Final

SOON: Final = 0.02  # seconds
SHARE: Final = 0.1  # of what it waited
LATE: Final = 0.25  # so short that no state is missed which others can see
OF_A_TICK: Final = 0.1
LATE_TICK: Final = 1.0  # as often as ticks ever are; nothing that they alone change is missed


def pause(began: float, *, soon: float = SOON, late: float = LATE) -> None:
    """Before the next look of a wait that began then, by the monotonic clock."""
    waited = time.monotonic() - began
    time.sleep(min(max(soon, waited * SHARE), late))


def pause_before_a_tick(began: float) -> None:
    """As long as ticks are apart, so that a test spends no processor on more of them."""
    pause(began, soon=OF_A_TICK, late=LATE_TICK)
