"""Which requests that were not carried out are counted together? Those of one kind and hour.

Whoever is refused can be refused again and again, and under many names, so a process tells apart so
many kinds in an hour and no more: beyond them, only operation and answer are told.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Final

MOST_KINDS: Final = 500  # guessed: far above what people's mistakes come to
_HOUR: Final = 3600


@dataclass(slots=True)
class KindsOfTheHour:
    """The kinds that this process has told apart in the hour that it is."""

    most: int = MOST_KINDS
    _hour: int = 0
    _known: set[Hashable] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def is_told_apart(self, kind: Hashable, hour: int) -> bool:
        """True if it is known, or is one of those that still find room."""
        with self._lock:
            if hour != self._hour:
                self._hour, self._known = hour, set()
            if kind not in self._known and len(self._known) >= self.most:
                return False
            self._known.add(kind)
            return True


def hour_of(moment: datetime) -> int:
    """Return the number of an hour."""
    return int(moment.astimezone(UTC).timestamp()) // _HOUR


KINDS: Final = KindsOfTheHour()
IsToldApart = Callable[[Hashable, int], bool]
