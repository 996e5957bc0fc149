"""May requests of this group take more of the processor now, or have they had their share?

How much a request costs is known only when it is over: so what is counted is what the group's
requests have used. A group may use its share for ever, and what that gives in a few seconds at
once; who has used more waits until the share has made up for it. So however many and expensive the
questions of one team are, a part of the processor stays for others: ticks, the database and
training run on the same machine. While no processor is short nobody waits, nor makes up for it
later.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from control_plane.front.callers import is_address
from control_plane.front.threads.processor_pressure import Pressure

SHARE_OF_PROCESSOR: Final = 0.25  # of one; guessed: five people who look at live pages
PART_OF_STRANGERS: Final = 0.2  # of a share, for one address without an accepted credential
WINDOW_SECONDS: Final = 8.0  # whose share may be used at once; guessed: a hundred requests
FRONT_SECONDS: Final = 0.003  # guessed: what a request costs before and after its thread
_MOST_KNOWN: Final = 10_000


class ProcessorShares:
    """When each group's share will have made up for what it used."""

    def __init__(
        self,
        *,
        share: float = SHARE_OF_PROCESSOR,
        part_of_strangers: float = PART_OF_STRANGERS,
        window_seconds: float = WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        is_short: Callable[[], bool] | None = None,
    ) -> None:
        self._share = share
        self._of_strangers = share * part_of_strangers
        self._window_seconds = window_seconds
        self._clock = clock
        self._is_short = is_short or Pressure().is_felt
        self._even_at: OrderedDict[str, float] = OrderedDict()

    def wait_seconds(self, group: str) -> float:
        """Return how long the group has to wait from now on; 0 if it may go on."""
        if not self._is_short():
            return 0.0
        now = self._clock()
        return max(self._even_at.get(group, now) - now - self._window_seconds, 0.0)

    def use(self, group: str, seconds: float) -> None:
        """Note that so many seconds of a processor were used for the group."""
        now = self._clock()
        even_at = max(self._even_at.get(group, now), now) + seconds / self._of(group)
        if not self._is_short():
            even_at = min(even_at, now + self._window_seconds)
        self._even_at[group] = even_at
        self._even_at.move_to_end(group)
        while len(self._even_at) > _MOST_KNOWN:
            self._even_at.popitem(last=False)

    def _of(self, group: str) -> float:
        return self._of_strangers if is_address(group) else self._share
