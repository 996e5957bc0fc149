"""Which jobs does the demo submit, when, and what must come out of them?

Two teams own half of the machine each. The first job has it to itself and borrows the other
half; the other team's first job takes that back; two more arrivals have to squeeze in; whoever
is left grows again as the others finish. Everything trains on data that is on every machine.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a sane training run reaches: a logged value, and the worst that is acceptable."""

    value: str
    at_least: float | None = None
    at_most: float | None = None

    def is_kept(self, reached: float | None) -> bool:
        """Whether the value is there and good enough."""
        if reached is None:
            return False
        is_high_enough = self.at_least is None or reached >= self.at_least
        return is_high_enough and (self.at_most is None or reached <= self.at_most)

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """One job of the demo."""

    name: str
    team: str
    submit_at_seconds: float  # after the start of the demo
    script: str
    arguments: tuple[str, ...]
    max_workers: int
    base_batch: int
    max_batch: int
    bound: Bound

    def spec(self, *, root: Path, run: str) -> dict[str, Any]:
        """The job as it is sent to the service, marked as part of this run of the demo."""
        return {
            "name": self.name,
            "team": self.team,
            "command": [sys.executable, str(root / "examples" / self.script), *self.arguments],
            "env": {"OMP_NUM_THREADS": "1"},
            "elastic": {"min_workers": 1, "max_workers": self.max_workers, "mode": "hot"},
            "batch": {
                "global_batch_size": {
                    "base": self.base_batch,
                    "min": self.base_batch,
                    "max": self.max_batch,
                },
                "lr_scaling": "sqrt",
                "lr_warmup_steps": 20,
            },
            "labels": {LABEL: run},
        }


LABEL = "demo"

_ACCURATE = Bound(value="accuracy", at_least=0.93)  # digits: 0.1 is guessing, 0.98 is good
_FLUENT = Bound(value="loss", at_most=2.6)  # nats a character: 4.6 is guessing


def jobs() -> tuple[DemoJob, ...]:
    """The demo's jobs in the order they are submitted; three to six minutes on two cores."""
    return (
        _digits("digits-cnn", submit_at_seconds=0, epochs=40, max_workers=4),
        _transformer("text-transformer", submit_at_seconds=40, epochs=6, max_workers=4),
        _digits("digits-small", submit_at_seconds=70, epochs=12, max_workers=2),
        _transformer("text-small", submit_at_seconds=90, epochs=3, max_workers=2),
    )


def _digits(name: str, *, submit_at_seconds: float, epochs: int, max_workers: int) -> DemoJob:
    return DemoJob(
        name=name,
        team="vision",
        submit_at_seconds=submit_at_seconds,
        script="digits_cnn.py",
        arguments=("--epochs", str(epochs)),
        max_workers=max_workers,
        base_batch=64,
        max_batch=256,
        bound=_ACCURATE,
    )


def _transformer(name: str, *, submit_at_seconds: float, epochs: int, max_workers: int) -> DemoJob:
    return DemoJob(
        name=name,
        team="language",
        submit_at_seconds=submit_at_seconds,
        script="stdlib_transformer.py",
        arguments=("--epochs", str(epochs)),
        max_workers=max_workers,
        base_batch=32,
        max_batch=128,
        bound=_FLUENT,
    )
