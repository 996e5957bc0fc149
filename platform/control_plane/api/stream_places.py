"""Is there room for one more stream? So many for each person or token, and for this process."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import Final

from rest_framework import exceptions, status

MOST_OF_ONE: Final = 8  # guessed: a person's windows, a pipeline's jobs; in each process of api
MOST_OF_ALL: Final = 200  # guessed: what one process of api serves beside its requests
_RETRY_SECONDS: Final = 5.0


class TooManyOfOne(exceptions.Throttled):
    """Somebody follows more logs than one may."""

    def __init__(self) -> None:
        super().__init__(
            wait=_RETRY_SECONDS,
            detail=f"You follow {MOST_OF_ONE} logs already, which is all that one person or token"
            " may. End one of them.",
        )


class TooManyOfAll(exceptions.APIException):
    """This process serves as many streams as it can."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "As many logs are followed here as can be; try again in a moment."
    wait = _RETRY_SECONDS


class StreamPlaces:
    """Who holds how many streams."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._left: deque[str] = deque()
        self._lock = threading.Lock()

    def take(self, holder: str) -> None:
        """Raises: TooManyOfOne, TooManyOfAll."""
        with self._lock:
            self._settle()
            if self._held[holder] >= MOST_OF_ONE:
                raise TooManyOfOne
            if self._held.total() >= MOST_OF_ALL:
                raise TooManyOfAll
            self._held[holder] += 1

    def leave(self, holder: str) -> None:
        """A place that was taken. Without the lock: the garbage collector calls it as well."""
        self._left.append(holder)

    def count(self, holder: str) -> int:
        with self._lock:
            self._settle()
            return self._held[holder]

    def _settle(self) -> None:
        while self._left:
            self._held.subtract([self._left.popleft()])
        self._held = +self._held
