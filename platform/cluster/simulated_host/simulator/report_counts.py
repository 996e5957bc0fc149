"""How many reports were sent, how long took answers, and when did a job hear of something new?"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any, Final

MOST_KEPT: Final = 20_000  # of the newest; guessed: a minute of a thousand jobs


@dataclass(slots=True)
class ReportCounts:
    """Of all coordinators together. Threads count here; a count that is lost does no harm."""

    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # by what was said
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _news: deque[tuple[str, int, float]] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))

    def note_answer(self, seconds: float) -> None:
        self.answered += 1
        self._seconds.append(seconds)

    def note_failure(self, said: str) -> None:
        self.failures[said] += 1

    def note_news(self, job_id: str, revision: int, at: float) -> None:
        """A coordinator was told a revision of what is wanted that it did not know."""
        self._news.append((job_id, revision, at))

    def told(self) -> dict[str, Any]:
        """Return all, and forget all but the sums."""
        seconds, news = list(self._seconds), list(self._news)
        self._seconds.clear()
        self._news.clear()
        return {
            "answered": self.answered,
            "failures": dict(self.failures),
            "seconds": seconds,
            "news": news,
        }
