"""Is it shown, on terminals and in pipes, how far simulations are and how long they still take?"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from autoscaler.simulation.cli.progress.line import ProgressLine
from autoscaler.simulation.cli.progress.pace import SimulationRate
from autoscaler.simulation.cli.progress.remaining import JOBS_OF_A_PLAN, ProgressSign
from autoscaler.simulation.engine.results.records import WorkAhead


def pace(*labels: str, jobs: int = 1000, processes: int = 2) -> SimulationRate:
    return SimulationRate(labels=labels or ("a",), jobs=jobs, processes=processes)


def sign(ended: int, at: float = 0.0, *, end: float = 0.0, present: int = 0) -> ProgressSign:
    """With the last arrival at 1000, and jobs that all run until the end."""
    after = max(end, 1000.0) - max(at, 1000.0)
    ahead = WorkAhead(
        present=present, last_arrival=1000.0, end=max(end, 1000.0), job_seconds=after * present
    )
    return ProgressSign(ended, at, ahead)


def test_what_is_left_follows_from_what_took_how_long() -> None:
    told = pace()
    told.note("a", sign(0), now=100.0)
    told.note("a", sign(250), now=130.0)
    assert told.seconds_left(130.0) == pytest.approx(90.0)
    assert told.sentence(130.0) == "25 %: 250 of 1,000 jobs; about 1 min 30 s left"


def test_nothing_is_estimated_from_too_little() -> None:
    told = pace()
    told.note("a", sign(0), now=0.0)
    told.note("a", sign(250), now=4.9)
    assert told.seconds_left(4.9) is None
    assert told.sentence(4.9) == "25 %: 250 of 1,000 jobs"


def test_jobs_that_are_yet_to_come_count_though_none_has_ended() -> None:
    told = pace()
    told.note("a", sign(0, at=0.0), now=0.0)
    told.note("a", sign(0, at=100.0), now=10.0)
    assert told.seconds_left(10.0) == pytest.approx(90.0)


def test_the_last_jobs_count_though_nearly_all_have_ended() -> None:
    told = pace()
    told.note("a", sign(0, at=1000.0, end=9000.0, present=5), now=0.0)
    told.note("a", sign(999, at=2000.0, end=9000.0, present=5), now=10.0)
    assert told.seconds_left(10.0) == pytest.approx(70.0)


def test_plans_for_fewer_jobs_cost_less() -> None:
    ahead = WorkAhead(present=JOBS_OF_A_PLAN, last_arrival=0.0, end=3000.0, job_seconds=0.0)
    told = pace()
    told.note("a", ProgressSign(0, 1000.0, ahead), now=0.0)
    told.note("a", ProgressSign(0, 2000.0, ahead), now=10.0)
    assert told.seconds_left(10.0) == pytest.approx(5.0)


def test_simulations_side_by_side_take_as_long_as_the_slowest() -> None:
    told = pace("a", "b")
    for label, ended in (("a", 500), ("b", 250)):
        told.note(label, sign(0), now=0.0)
        told.note(label, sign(ended), now=10.0)
    assert told.seconds_left(10.0) == pytest.approx(30.0)


def test_simulations_that_wait_take_as_long_as_the_others() -> None:
    told = pace("a", "b", "c", processes=1)
    told.note("a", sign(0), now=0.0)
    told.note("a", None, now=40.0)
    told.note("b", sign(0), now=40.0)
    told.note("b", sign(500), now=60.0)
    assert told.seconds_left(60.0) == pytest.approx(20.0 + 40.0)
    assert "1,500 of 3,000 jobs under 3 policies, 1 of them done" in told.sentence(60.0)


def test_nothing_is_left_of_what_is_done() -> None:
    told = pace()
    told.note("a", sign(0), now=0.0)
    told.note("a", None, now=50.0)
    assert told.seconds_left(80.0) == 0.0


@dataclass
class Shown:
    """A line with a clock that a test moves."""

    is_terminal: bool
    now: float = 0.0
    written: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.line = ProgressLine(
            pace=pace(),
            write=self.written.append,
            clock=lambda: self.now,
            is_terminal=self.is_terminal,
        )

    def at(self, now: float, ended: int) -> int:
        """How much has been written when so many jobs have ended."""
        self.now = now
        self.line("a", sign(ended) if ended < 1000 else None)
        return len(self.written)


def test_a_terminal_has_one_line_that_is_written_over() -> None:
    shown = Shown(is_terminal=True)
    assert [shown.at(now, 10) for now in (0.0, 0.1, 0.2, 0.3, 0.4)] == [1, 1, 2, 2, 3]
    shown.line.close()
    assert all(text.startswith("\r\x1b[K") for text in shown.written)
    assert not any("\n" in text for text in shown.written)
    assert shown.written[-1] == "\r\x1b[K"


def test_a_pipe_has_a_line_as_soon_as_there_is_an_estimate_and_then_now_and_then() -> None:
    shown = Shown(is_terminal=False)
    assert [shown.at(now, int(now) * 10) for now in (0, 4, 5, 6, 34, 35, 60)] == [
        *(0, 0, 1, 1, 1, 2, 2)
    ]
    shown.line.close()
    assert shown.written == [
        "5 %: 50 of 1,000 jobs; about 1 min 35 s left\n",
        "35 %: 350 of 1,000 jobs; about 1 min 5 s left\n",
    ]


def test_a_pipe_has_a_line_too_where_nothing_can_be_estimated() -> None:
    shown = Shown(is_terminal=False)
    assert [shown.at(now, 1) for now in (0, 29, 30, 59, 60)] == [0, 0, 1, 1, 2]
    assert shown.written[0] == "0 %: 1 of 1,000 jobs\n"


def test_nothing_is_written_of_what_takes_no_time() -> None:
    shown = Shown(is_terminal=False)
    assert [shown.at(now, ended) for now, ended in ((0, 0), (1, 500), (2, 1000))] == [0, 0, 0]
