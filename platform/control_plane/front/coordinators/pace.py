"""How soon may a coordinator report again? The more jobs there are, the later.

All reports together get a share of one processor. Whatever somebody waits for is told at once all
the same: by the coordinator that has news, and by the service that wakes it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Final

from concertina_worker.protocol import LONGEST_REST_SECONDS

SHARE_OF_PROCESSOR: Final = 0.25  # of one, for the reports that a process stores; guessed
FRONT_SECONDS: Final = 0.001  # guessed: what a report costs before and after its thread
_WEIGHT: Final = 0.1  # of the newest batch in what a report costs
_SEEN_FOR_SECONDS: Final = 2 * LONGEST_REST_SECONDS


class ReportPacing:
    """Knows how many jobs report to this process, and what a report costs."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen_at: OrderedDict[str, float] = OrderedDict()
        self._seconds = 0.0  # that a report takes

    def note(self, job_ids: Collection[str], seconds: float) -> None:
        """Reports of these jobs took so much of a processor together."""
        now = self._clock()
        for job_id in job_ids:
            self._seen_at[job_id] = now
            self._seen_at.move_to_end(job_id)
        while next(iter(self._seen_at.values()), now) < now - _SEEN_FOR_SECONDS:
            self._seen_at.popitem(last=False)
        each = seconds / max(len(job_ids), 1)
        self._seconds += _WEIGHT * (each - self._seconds) if self._seconds else each

    def rest_seconds(self) -> float:
        """Return the shortest pause that keeps all reports within their share, up to a bound."""
        cost = len(self._seen_at) * (self._seconds + FRONT_SECONDS)
        return min(cost / SHARE_OF_PROCESSOR, LONGEST_REST_SECONDS)
