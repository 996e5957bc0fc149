"""Does somebody ask the same at this moment? Then it is read once for all of them.

Pages of the whole cluster ask for the same sums every two seconds, each viewer for itself. What was
read is handed out again for a moment, and whoever comes while it is being read waits for that. Only
those who may see the same share it. A request that changes something ends that moment, so that
whoever sent it sees what it did; other processes may show the former numbers for that long.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tenancy.access.principal import Principal

SHARED_SECONDS: Final = 1.0  # guessed: half of the pause between two questions of a page
_MOST: Final = 100  # different questions

Read = TypeVar("Read")


@dataclass(slots=True)
class _Question:
    lock: threading.Lock = field(default_factory=threading.Lock)  # held by whoever reads
    began_at: float = -1.0  # when what is known was asked for
    turn: int = -1
    answer: Any = None


class SharedReads:
    """What was read lately by this process, for all of its threads."""

    def __init__(
        self,
        *,
        seconds: float = 0.0,
        most: int = _MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds`: for how long something is shared; 0: nothing is."""
        self.seconds = seconds
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._questions: OrderedDict[Hashable, _Question] = OrderedDict()
        self._turn = 0  # goes up with each change

    def read(self, *question: Hashable, by: Principal, read: Callable[[], Read]) -> Read:
        """Return what is read, or was a moment ago; nobody may change it."""
        if not self.seconds:
            return read()
        came_at = self._clock()
        asked = self._question((question, by.is_admin, frozenset(by.teams)), came_at)
        with asked.lock:
            if not self._answers(asked, came_at):
                turn, began_at = self._turn, self._clock()
                asked.answer = read()
                asked.turn, asked.began_at = turn, began_at
            answer: Read = asked.answer
            return answer

    def forget(self) -> None:
        """Something has changed: whoever comes from now on reads anew."""
        with self._lock:
            self._turn += 1

    def __len__(self) -> int:
        """Count the answers that are remembered: some have megabytes, so only for a moment."""
        return len(self._questions)

    def _question(self, key: Hashable, now: float) -> _Question:
        with self._lock:
            asked = self._questions.setdefault(key, _Question())
            self._questions.move_to_end(key)
            while (oldest := next(iter(self._questions.values()))) is not asked:
                is_over = not oldest.lock.locked() and now - oldest.began_at >= self.seconds
                if not is_over and len(self._questions) <= self._most:
                    break
                self._questions.popitem(last=False)
            return asked

    def _answers(self, asked: _Question, came_at: float) -> bool:
        """True if it was asked for since then, or lately and nothing has changed since."""
        is_young = asked.turn == self._turn and self._clock() - asked.began_at < self.seconds
        return asked.turn >= 0 and (asked.began_at >= came_at or is_young)


SHARED: Final = SharedReads()  # in the server alone anything is: `gunicorn_worker`
