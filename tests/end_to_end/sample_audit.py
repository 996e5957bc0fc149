"""Was every sample of each epoch used exactly once? Read from what the workers wrote down.

A worker writes, for every step it has committed, the step's number, its epoch and the range of
positions that the whole group used. Workers of one job must agree, steps must follow each other,
and the ranges of an epoch must tile it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CommittedStep:
    """Positions `start <= p < stop` of `epoch`'s permutation went into optimizer step `step`."""

    step: int
    epoch: int
    start: int
    stop: int


def committed_steps(folder: Path) -> list[CommittedStep]:
    steps: set[CommittedStep] = set()
    for path in sorted(folder.glob("*")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            steps.add(
                CommittedStep(
                    step=row["step"], epoch=row["epoch"], start=row["start"], stop=row["stop"]
                )
            )
    return sorted(steps)


def assert_every_sample_once(folder: Path, *, samples: int, job: Mapping[str, Any]) -> None:
    """In whole epochs of so many samples, as many as the job says that it has trained on."""
    steps = committed_steps(folder)
    epochs = steps[-1].epoch + 1
    assert job["samples"] == samples * epochs
    assert [s.step for s in steps] == list(range(steps[0].step, steps[0].step + len(steps))), (
        "two workers disagree about a step, or one is missing"
    )
    for epoch in range(epochs):
        position = 0
        for step in (s for s in steps if s.epoch == epoch):
            assert step.start == position, f"epoch {epoch}: {step} does not begin at {position}"
            position = step.stop
        assert position == samples, f"epoch {epoch} ended at {position} of {samples}"
