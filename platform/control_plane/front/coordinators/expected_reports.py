"""For which jobs' reports does somebody wait? For those that were woken, until they report.

The answer to a coordinator's report tells it what is wanted. One that was woken has to hear
something new, so its report goes before those that come because it is time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

_MOST: Final = (
    10_000  # jobs; guessed: above those of an installation, whose others report elsewhere
)


class ExpectedReports:
    """It belongs to one event loop, so there is no lock."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._jobs: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._jobs

    def expect(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            self._jobs[job_id] = None
            self._jobs.move_to_end(job_id)
        while len(self._jobs) > self._most:
            self._jobs.popitem(last=False)

    def came(self, job_id: str) -> None:
        """Its report is being stored now, and will be answered with what is wanted then."""
        self._jobs.pop(job_id, None)
