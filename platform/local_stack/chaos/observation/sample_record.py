"""Which samples went into a training, and which steps were made twice? From its workers' records.

Each worker writes down every step that it has committed: its number, the generation, and the range
of an epoch's samples that the whole group used. A step that a later generation has made again does
not count; what is left has to be every sample of every epoch, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RecordedStep:
    """Samples `start <= position < stop` of an epoch's order."""

    generation: int
    step: int
    epoch: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRecord:
    """All steps of one job, those that were made again included."""

    steps: frozenset[RecordedStep]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what all workers have written there; a line that is not whole yet is left out."""
        lines = (line for path in folder.glob("*.jsonl") for line in _whole_lines(path))
        return cls.of_lines(lines)

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Self:
        rows = (json.loads(line) for line in lines)
        return cls(
            steps=frozenset(
                RecordedStep(
                    generation=row["generation"],
                    step=row["step"],
                    epoch=row["epoch"],
                    start=row["start"],
                    stop=row["stop"],
                )
                for row in rows
            )
        )

    def counted(self) -> list[RecordedStep]:
        """The steps in order, without those that a later generation has made again."""
        kept: list[RecordedStep] = []
        horizon = float("inf")
        for one in sorted(self.steps, reverse=True):
            if one.step < horizon or (kept and one.generation == kept[-1].generation):
                kept.append(one)
                horizon = min(horizon, one.step)
        return kept[::-1]

    @property
    def steps_made_again(self) -> int:
        return len(self.steps) - len(self.counted())

    def problems(self, *, samples_per_epoch: int) -> Iterator[str]:
        """Yield what keeps it from being every sample of each epoch once; the last may be open."""
        counted = self.counted()
        numbers = [one.step for one in counted]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"steps do not follow each other: {_first_gap(numbers)}"
            return
        epoch, position = 0, 0
        for one in counted:
            if one.epoch == epoch + 1 and position == samples_per_epoch:
                epoch, position = one.epoch, 0
            if (one.epoch, one.start) != (epoch, position) or one.stop > samples_per_epoch:
                yield f"{one} does not go on from sample {position} of epoch {epoch}"
                return
            position = one.stop

    def samples(self) -> int:
        return sum(one.stop - one.start for one in self.counted())


def _first_gap(numbers: list[int]) -> str:
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            return f"{number} where {expected} should be"
    return "none"


def _whole_lines(path: Path) -> list[str]:
    whole, _, _ = path.read_text().rpartition("\n")
    return whole.splitlines()
