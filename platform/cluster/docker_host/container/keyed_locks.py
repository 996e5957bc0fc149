"""How do threads that work on the same thing take turns, while those with another go on?"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class KeyedLocks:
    """One lock for each thing that somebody works on; it goes with the last who uses it."""

    _known: WeakValueDictionary[Hashable, threading.Lock] = field(
        default_factory=WeakValueDictionary
    )
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def of(self, *key: Hashable) -> threading.Lock:
        with self._guard:
            return self._known.setdefault(key, threading.Lock())
