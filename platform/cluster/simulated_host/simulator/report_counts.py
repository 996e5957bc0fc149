"""How many reports were sent, how long took answers, and when did a job hear of something new?"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MOST_KEPT: Final = 20_000  # of the newest; guessed: a minute of a thousand jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionDelivery:
    """A coordinator was told a revision of what is wanted that it did not know.

    Moments are seconds since 1970.
    """

    job_id: str
    revision: int
    woken_at: float  # when the service woke it last
    asked_at: float  # when it began the report whose answer told
    told_at: float


@dataclass(slots=True)
class ReportCounts:
    """Counts of all coordinators. Threads count here; a count that is lost does no harm."""

    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # by what was said
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _news: deque[RevisionDelivery] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))

    def note_answer(self, seconds: float) -> None:
        self.answered += 1
        self._seconds.append(seconds)

    def note_failure(self, said: str) -> None:
        self.failures[said] += 1

    def note_news(self, news: RevisionDelivery) -> None:
        self._news.append(news)

    def as_document(self) -> dict[str, Any]:
        """Return all, and forget all but the sums."""
        seconds, news = list(self._seconds), [asdict(one) for one in self._news]
        self._seconds.clear()
        self._news.clear()
        return {
            "answered": self.answered,
            "failures": dict(self.failures),
            "seconds": seconds,
            "news": news,
        }
