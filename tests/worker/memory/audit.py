"""Which samples did the workers of a job train on, as they wrote it down themselves?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedStep:
    """What the workers wrote down."""

    generation: int
    step: int
    epoch: int
    batch: range


def read_audit(folder: Path, worker: str = "*") -> list[AuditedStep]:
    """Return what one worker wrote down, in its order; or all."""
    files = folder.glob(f"{worker}.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [
        AuditedStep(
            generation=line["generation"],
            step=line["step"],
            epoch=line["epoch"],
            batch=range(line["start"], line["stop"]),
        )
        for line in lines
    ]


def that_counted(steps: Iterable[AuditedStep]) -> list[AuditedStep]:
    """Return the steps that led to the result: without what was made again after a checkpoint."""
    found: list[AuditedStep] = []
    for step in sorted(steps, key=lambda step: (step.generation, step.step)):
        while found and found[-1].step >= step.step:
            assert found[-1].generation < step.generation or found[-1] == step
            found.pop()
        found.append(step)
    return found
