"""Which reports are stored together, and which wait? Those that are there when a thread begins.

To store ten reports in one transaction costs little more than to store one. So a thread that begins
takes all that wait, and the next begins a moment later: the more come, the more go together, and a
single one is not kept waiting. Where more wait than go together, those of jobs that were woken go
first: their coordinators have something to hear. A job has one report here at most, so none comes
before its turn by sending many; and one that takes the processor for itself is turned away for a
while.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from control_plane.front.coordinators.expected_reports import ExpectedReports
from control_plane.front.coordinators.pace import ReportPacing
from control_plane.front.threads.lanes import Busy, ShareIsUsed
from control_plane.front.threads.processor_shares import ProcessorShares

THREADS: Final = 2  # so that one statement that takes long does not keep all reports waiting
MOST_TOGETHER: Final = 50  # guessed: who wants to change one of their jobs waits for all of them
MOST_BYTES_TOGETHER: Final = 2**20  # guessed; a longer report goes alone
MOST_WAITING: Final = 2000  # as many as a process holds requests of
LONGEST_WAIT_SECONDS: Final = 5.0  # half of what coordinators wait for an answer
SHARE_OF_ONE_JOB: Final = 0.06  # of a processor; guessed: far above two reports a second
PAUSE_SECONDS: Final = 0.03  # between two beginnings; guessed: trades latency against transactions
AGAIN_SECONDS: Final = 0.1  # until a job whose row somebody holds is tried again; guessed

Answer = tuple[int, dict[str, Any]]  # status and document


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedReport:
    """A report as it came."""

    job_id: str
    authorization: str
    body: bytes


Storing = Callable[[Sequence[ReceivedReport]], Sequence[Answer | None]]
"""Whoever stores reports, each of another job, in a thread; None: try it again in a moment."""


@dataclass(slots=True, eq=False)
class _WaitingReport:
    report: ReceivedReport
    answer: asyncio.Future[Answer]
    gives_up_at: float  # by the clock of the loop
    not_before: float = field(default=0.0)


class Batches:
    """Belongs to one event loop, so there is no lock."""

    def __init__(
        self,
        store: Storing,
        *,
        pace: ReportPacing,
        shares: ProcessorShares,
        expected: ExpectedReports | None = None,
        most_waiting: int = MOST_WAITING,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._pace = pace
        self._shares = shares
        self._expected = expected or ExpectedReports()
        self._most_waiting = most_waiting
        self._longest_wait_seconds = longest_wait_seconds
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._threads = ThreadPoolExecutor(THREADS, "reports")
        # by job, in the order of arrival
        self._waiting: OrderedDict[str, _WaitingReport] = OrderedDict()
        self._being_stored: set[str] = set()  # jobs
        self._running = 0
        self._next_at = 0.0
        self._alarm: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Count those that wait."""
        return len(self._waiting)

    async def answer(self, report: ReceivedReport) -> Answer:
        """Store a report together with others; whoever gives up takes it out.

        Raises:
            Busy: too many wait, it waited too long, or a newer one of the job came.
            ShareIsUsed: the job's reports cost too much.
        """
        if self._shares.wait_seconds(report.job_id):
            raise ShareIsUsed
        older = self._waiting.pop(report.job_id, None)
        if older is None and len(self._waiting) >= self._most_waiting:
            raise Busy
        if older is not None and not older.answer.done():
            older.answer.set_exception(Busy())  # its sender has asked anew
        loop = asyncio.get_running_loop()
        waiting = _WaitingReport(
            report, loop.create_future(), loop.time() + self._longest_wait_seconds
        )
        self._waiting[report.job_id] = waiting
        expiry = loop.call_later(self._longest_wait_seconds, self._expire, waiting)
        self._look()
        try:
            return await waiting.answer
        finally:
            expiry.cancel()
            self._take_out(waiting)

    def _expire(self, waiting: _WaitingReport) -> None:
        """Give up one that still waits; what is being stored is answered, however long it takes."""
        if self._take_out(waiting) and not waiting.answer.done():
            waiting.answer.set_exception(Busy())

    def _is_overdue(self, waiting: _WaitingReport) -> bool:
        return asyncio.get_running_loop().time() > waiting.gives_up_at

    def _take_out(self, waiting: _WaitingReport) -> bool:
        """Return True if it waited."""
        if self._waiting.get(waiting.report.job_id) is not waiting:
            return False
        del self._waiting[waiting.report.job_id]
        return True

    def _look(self) -> None:
        """Begin if it is time, and a thread is free; else look again then."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if not self._waiting or self._running >= THREADS:
            return
        now = self._clock()
        ready_at = self._next_at
        if ready_at <= now and (batch := self._take(now)):
            self._next_at = ready_at = now + self._pause_seconds
            self._begin(batch)
        elif ready_at <= now:
            ready_at = now + self._pause_seconds
        if self._waiting and self._running < THREADS:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(ready_at - now, self._look)

    def _take(self, now: float) -> list[_WaitingReport]:
        """Take out as many as go together: those that are expected, then whoever came first."""
        taken: list[_WaitingReport] = []
        size = 0
        for one in self._in_turn():
            if one.report.job_id in self._being_stored or one.not_before > now:
                continue
            size += len(one.report.body)
            if taken and size > MOST_BYTES_TOGETHER:
                break
            taken.append(one)
            if len(taken) == MOST_TOGETHER:
                break
        for one in taken:
            del self._waiting[one.report.job_id]
            self._expected.came(one.report.job_id)
        return taken

    def _in_turn(self) -> Iterator[_WaitingReport]:
        yield from (one for job_id, one in self._waiting.items() if job_id in self._expected)
        yield from (one for job_id, one in self._waiting.items() if job_id not in self._expected)

    def _begin(self, batch: list[_WaitingReport]) -> None:
        self._running += 1
        self._being_stored |= {one.report.job_id for one in batch}
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._in_thread, [one.report for one in batch])
        work.add_done_callback(lambda done: self._end(batch, done))

    def _in_thread(
        self, reports: Sequence[ReceivedReport]
    ) -> tuple[Sequence[Answer | None], float]:
        """Return the answers, and how long the thread had a processor."""
        began = time.thread_time()
        answers = self._store(reports)
        return answers, time.thread_time() - began

    def _end(
        self,
        batch: list[_WaitingReport],
        done: asyncio.Future[tuple[Sequence[Answer | None], float]],
    ) -> None:
        self._running -= 1
        self._being_stored -= {one.report.job_id for one in batch}
        if problem := done.exception():
            for one in batch:
                if not one.answer.done():
                    one.answer.set_exception(problem)
        else:
            answers, seconds = done.result()
            self._count(batch, seconds)
            again_at = self._clock() + AGAIN_SECONDS
            for one, answer in zip(batch, answers, strict=True):
                self._pass_on(one, answer, again_at)
        self._look()

    def _pass_on(self, one: _WaitingReport, answer: Answer | None, again_at: float) -> None:
        if one.answer.done():
            return  # its sender has gone
        if answer is not None:
            one.answer.set_result(answer)
        elif (
            one.report.job_id in self._waiting
            or asyncio.get_running_loop().time() > one.gives_up_at
        ):
            one.answer.set_exception(Busy())  # a newer one of the job came, or it waited too long
        else:
            one.not_before = again_at
            self._waiting[one.report.job_id] = one
            self._waiting.move_to_end(one.report.job_id, last=False)

    def _count(self, batch: list[_WaitingReport], seconds: float) -> None:
        """Share out what was used by the length of what was told."""
        size = sum(len(one.report.body) for one in batch) or 1
        for one in batch:
            self._shares.use(one.report.job_id, seconds * len(one.report.body) / size)
        self._pace.note([one.report.job_id for one in batch], seconds)
