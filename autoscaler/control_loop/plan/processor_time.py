"""How long may one computation take of the processor, before it counts as one that failed?

What a plan costs depends on data that anybody may send. Its loops are bounded, and what they take
was measured; whatever was overlooked there ends here, as `TakesTooLong`, and the job to blame is
found and left out like one whose data raise. Time of the processor is counted, not of the clock: a
busy machine makes no plan fail.

Only what is pure may be bounded so, for it is left wherever it stands. A program written in
another language is left when it returns; in threads other than the first nothing is bounded, as
the interpreter runs handlers of signals only there. Ticks run in the first.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

Result = TypeVar("Result")
_AGAIN_AFTER: Final = 1.0  # seconds; where whoever was interrupted let nothing out


class TakesTooLong(Exception):
    """It takes more time of the processor than there is for it."""


@dataclass(slots=True, kw_only=True)
class ProcessorTime:
    """A budget of so many seconds for all computations together."""

    seconds: float
    _spent: float = field(default=0.0, init=False)

    @property
    def spent(self) -> float:
        """Return how many seconds computations have taken so far."""
        return self._spent

    def bound(self, compute: Callable[[], Result], *, at_most: float) -> Result:
        """Return what is computed, in `at_most` seconds or what is left.

        Raises:
            TakesTooLong: it takes longer, or nothing is left.
        """
        left = self.seconds - self._spent
        if left <= 0:
            raise TakesTooLong("no time is left for it")
        allowed, began = min(at_most, left), time.process_time()
        least = 0.0
        try:
            return within(allowed, compute)
        except TakesTooLong:
            least = allowed  # the bell goes by a coarser clock than ours, and may ring early
            raise
        finally:
            self._spent += max(time.process_time() - began, least)


def within(seconds: float, compute: Callable[[], Result]) -> Result:
    """Return what is computed, if it takes no longer.

    Raises:
        TakesTooLong: it does.
    """
    if threading.current_thread() is not threading.main_thread():
        return compute()
    try:
        try:  # whatever rings while the inner bell is put off is caught by the outer one
            _BELL.set(seconds)
            return compute()
        finally:
            _BELL.put_off()
    finally:
        _BELL.put_off()


@dataclass(slots=True)
class _Bell:
    """Interrupts the first thread. Its handler stays: without one, a late ring ends the process."""

    is_set: bool = False

    def set(self, seconds: float) -> None:
        signal.signal(signal.SIGPROF, self._ring)
        self.is_set = True
        signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_AFTER)

    def put_off(self) -> None:
        self.is_set = False
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _ring(self, *_: object) -> None:
        if self.is_set:
            raise TakesTooLong("it takes more of the processor's time than there is for it")


_BELL: Final = _Bell()
