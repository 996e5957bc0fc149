"""When was which step made? Each process writes a file of its steps; together they tell stalls."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

USUAL_STEPS = 40  # before a change
USUAL_STEPS_AFTER = 6  # the newest ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One optimizer step of one process."""

    number: int
    workers: int
    at: float  # seconds of the machine's monotonic clock, the same for all processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """How long training stood still at a change, in seconds."""

    longest: float  # time between two steps round it
    step_before: float  # median
    step_after: float

    @property
    def seconds(self) -> float:
        """Less the longer of the two median steps: fewer workers take longer for a batch."""
        return max(self.longest - max(self.step_before, self.step_after), 0.0)

    @property
    def over_step_before(self) -> float:
        return max(self.longest - self.step_before, 0.0)

    @property
    def in_steps(self) -> float:
        return self.seconds / max(self.step_before, self.step_after)

    @property
    def in_steps_before(self) -> float:
        """One more step of twice the length counts as a stall of one here."""
        return self.over_step_before / self.step_before


class StepWriter:
    """Writes down the steps of one process, in a script."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{os.getpid()}.steps").open("a", buffering=1)

    def add(self, number: int, workers: int) -> None:
        self._file.write(f"{number} {workers} {time.monotonic():.6f}\n")


class Timeline:
    """All steps of one job so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def by_process(self) -> list[list[Step]]:
        return [_read(path) for path in sorted(self._folder.glob("*.steps"))]

    def steps_with(self, workers: int, *, since: float) -> int:
        """How many the busiest process made with so many workers."""
        counts = [
            sum(step.workers == workers and step.at > since for step in steps)
            for steps in self.by_process()
        ]
        return max(counts, default=0)

    def stall(self, *, since: float, are_survivors: bool) -> Stall:
        """The stall at the change that was asked for at `since`: that of the worst process.

        Args:
            since: moment on the machine's monotonic clock.
            are_survivors: processes that live on through the change; else the job's progress
                counts, whoever made it, without steps that were made again.
        """
        processes = self.by_process()
        if are_survivors:
            lived = [steps for steps in processes if steps and steps[0].at < since < steps[-1].at]
        else:
            lived = [_progress(processes)]
        return max((_stall(steps, since) for steps in lived), key=lambda stall: stall.seconds)


def _stall(steps: list[Step], since: float) -> Stall:
    before = [step for step in steps if step.at <= since]
    gaps = _gaps([before[-1], *(step for step in steps if step.at > since)])
    return Stall(
        longest=max(gaps),
        step_before=median(_gaps(before[-USUAL_STEPS:])),
        step_after=median(gaps[-USUAL_STEPS_AFTER:]),
    )


def _gaps(steps: list[Step]) -> list[float]:
    return [b.at - a.at for a, b in pairwise(steps)]


def _progress(processes: list[list[Step]]) -> list[Step]:
    """The first time that each step was made."""
    newest = -1
    first: list[Step] = []
    for step in sorted((s for steps in processes for s in steps), key=lambda step: step.at):
        if step.number > newest:
            first.append(step)
            newest = step.number
    return first


def _read(path: Path) -> list[Step]:
    lines = path.read_text().splitlines(keepends=True)
    rows = [line.split() for line in lines if line.endswith("\n")]
    return [Step(number=int(n), workers=int(workers), at=float(at)) for n, workers, at in rows]
