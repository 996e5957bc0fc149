"""Which jobs' coordinators wait here, and which were woken lately?"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from control_plane.front.coordinators.expected_reports import ExpectedReports

_MOST_REMEMBERED: Final = 10_000  # wake-ups of jobs; guessed: above the jobs of an installation


class Word(Enum):
    """What a coordinator that waited is told."""

    REPORT_NOW = auto()
    NOTHING = auto()  # happened while it waited, or another request of the job waits instead
    REPLACED = auto()  # a coordinator of a later term waits
    NOBODY_HOLDS = auto()  # it has to ask again when it is time


@dataclass(frozen=True, slots=True)
class _Held:
    term: int
    word: asyncio.Future[Word]


class HeldJobs:
    """One request for each job at most. It belongs to one event loop, so there is no lock."""

    def __init__(self, *, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._woken_at: OrderedDict[str, float] = OrderedDict()
        self.expected = ExpectedReports()
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, job_id: str, *, term: int, heard_seconds: float) -> asyncio.Future[Word]:
        """Hold a coordinator's request; it began its newest report so many seconds ago."""
        word: asyncio.Future[Word] = asyncio.get_running_loop().create_future()
        present = self._held.get(job_id)
        woken_at = self._woken_at.get(job_id)
        if self._has_ended or (present is None and len(self) >= self._most):
            word.set_result(Word.NOBODY_HOLDS)
        elif present is not None and present.term > term:
            word.set_result(Word.REPLACED)
        elif woken_at is not None and woken_at >= self._clock() - heard_seconds:
            word.set_result(Word.REPORT_NOW)
        else:
            if present is not None:
                _say(present, Word.NOTHING)
            self._held[job_id] = _Held(term, word)
        return word

    def let_go(self, job_id: str, word: asyncio.Future[Word]) -> None:
        """Forget a request that was answered, or whose client is gone."""
        present = self._held.get(job_id)
        if present is not None and present.word is word:
            del self._held[job_id]

    def wake(self, job_ids: Iterable[str]) -> None:
        """Let the coordinators of these jobs report, whether they wait or come in a moment."""
        now, woken = self._clock(), list(job_ids)
        self.expected.expect(woken)
        for job_id in woken:
            self._woken_at[job_id] = now
            self._woken_at.move_to_end(job_id)
            if present := self._held.get(job_id):
                _say(present, Word.REPORT_NOW)
        while len(self._woken_at) > _MOST_REMEMBERED:
            self._woken_at.popitem(last=False)

    def drop_all(self) -> None:
        """Nobody can be woken for now."""
        for present in self._held.values():
            _say(present, Word.NOBODY_HOLDS)

    def end(self) -> None:
        """The process ends: nobody is held any more."""
        self._has_ended = True
        self.drop_all()


def _say(held: _Held, word: Word) -> None:
    if not held.word.done():
        held.word.set_result(word)
