"""Which requests that were not carried out are counted together? Those of one kind and hour.

Whoever is refused can be refused again and again, and under many names and keys. Of those whom
nobody knows, a process tells apart so many kinds of an address in an hour; then address, operation
and answer alone, so many again; and so many addresses. Beyond that only operation and answer are
told. So nobody uses up the room of another, and whoever is known is always told whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Final

MOST_ADDRESSES: Final = 500  # guessed: far above from where people mistype in an hour
MOST_OF_ADDRESS: Final = 20  # guessed likewise, of each degree
_HOUR: Final = 3600


@dataclass(slots=True)
class KindsOfTheHour:
    """The kinds that this process has told apart in the hour that it is."""

    most: int = MOST_ADDRESSES
    of_address: int = MOST_OF_ADDRESS
    _hour: int = 0
    _known: dict[str, dict[int, set[Hashable]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def degree(self, address: str, kinds: Sequence[Hashable], hour: int) -> int:
        """Return the place of the first of these kinds that is known or finds room, else one more.

        The first tells most, the last least.
        """
        with self._lock:
            if hour != self._hour:
                self._hour, self._known = hour, {}
            if address not in self._known and len(self._known) >= self.most:
                return len(kinds)
            of_address = self._known.setdefault(address, {})
            for degree, kind in enumerate(kinds):
                known = of_address.setdefault(degree, set())
                if kind in known or len(known) < self.of_address:
                    known.add(kind)
                    return degree
            return len(kinds)


def hour_of(moment: datetime) -> int:
    """Return the number of an hour."""
    return int(moment.astimezone(UTC).timestamp()) // _HOUR


KINDS: Final = KindsOfTheHour()
