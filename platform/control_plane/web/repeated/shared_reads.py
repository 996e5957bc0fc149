"""Does somebody ask the same at this moment? Then it is read once for all of them.

Pages of the whole cluster ask for the same sums every two seconds, each page for itself. What was
read is handed out again for a moment, and whoever comes while it is being read waits for that. Only
those who may see the same share it. Whoever changes something sees it: for them that moment is over
with their change, and what they read is handed to the others. Others may see the former numbers for
that long; if a change ended it for everybody, programs that submit all the time would have each
page read alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from rest_framework.request import Request
from tenancy.access.principal import Principal, principal_of

SHARED_SECONDS: Final = 1.0  # guessed: half of the pause between two questions of a page
_MOST: Final = 100  # different questions

Read = TypeVar("Read")


@dataclass(slots=True)
class _Question:
    lock: threading.Lock = field(default_factory=threading.Lock)  # held by whoever reads
    began_at: float = -math.inf  # when what is known was asked for
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
        self._changed_at: OrderedDict[str, float] = OrderedDict()  # by whoever changed something

    def read(self, *question: Hashable, by: Principal, read: Callable[[], Read]) -> Read:
        """Return what is read, or was a moment ago; nobody may change it."""
        if not self.seconds:
            return read()
        came_at = self._clock()
        # Not by name, which a team may have after another. Nor by role: what is shared here shows
        # the same to all who see the same teams within the same bounds of a token, whatever else
        # they may do there.
        readers = (by.is_admin, frozenset(by.seen_ids), by.bounds)
        shared = self._question((question, readers), came_at)
        with shared.lock:
            if not self._answers(shared, by.name, came_at):
                began_at = self._clock()
                shared.answer = read()
                shared.began_at = began_at
            answer: Read = shared.answer
            return answer

    def note_change(self, by: str) -> None:
        """This person or token has changed something, and wants to see it."""
        with self._lock:
            now = self._clock()
            self._changed_at[by] = now
            self._changed_at.move_to_end(by)
            while next(iter(self._changed_at.values())) < now - self.seconds:
                self._changed_at.popitem(last=False)

    def __len__(self) -> int:
        """Count the answers that are remembered: some have megabytes, so only for a moment."""
        return len(self._questions)

    def _question(self, key: Hashable, now: float) -> _Question:
        with self._lock:
            shared = self._questions.setdefault(key, _Question())
            self._questions.move_to_end(key)
            while (oldest := next(iter(self._questions.values()))) is not shared:
                is_over = not oldest.lock.locked() and now - oldest.began_at >= self.seconds
                if not is_over and len(self._questions) <= self._most:
                    break
                self._questions.popitem(last=False)
            return shared

    def _answers(self, shared: _Question, name: str, came_at: float) -> bool:
        """True if it was asked for since they came, or lately and after all that they changed."""
        with self._lock:
            changed_at = self._changed_at.get(name, -math.inf)
        is_told = shared.began_at > changed_at
        is_young = is_told and self._clock() - shared.began_at < self.seconds
        return shared.began_at >= came_at or is_young


SHARED: Final = SharedReads()  # in the server alone anything is: `gunicorn_worker`


def share(request: Request, question: Hashable, read: Callable[[], Any]) -> Any:
    """Read by `SHARED` for views of other applications, which are told so where they are wired."""
    return SHARED.read(request.path, question, by=principal_of(request), read=read)
