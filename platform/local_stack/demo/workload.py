"""Which jobs does the demo submit, when, and what must come out of them?

Two teams own half of the machine each. The first job has it to itself and borrows the other
half; the other team's first job takes that back; two more arrivals have to squeeze in; whoever
is left grows again as the others finish. Everything trains on data that is on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local_stack.demo.scripts import Scripts


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a sane training run reaches: a logged value, and the worst that is acceptable."""

    value: str
    at_least: float | None = None
    at_most: float | None = None

    def is_kept(self, reached: float | None) -> bool:
        """True if the value is there and good enough."""
        if reached is None:
            return False
        is_high_enough = self.at_least is None or reached >= self.at_least
        return is_high_enough and (self.at_most is None or reached <= self.at_most)

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionTime:
    """When a job is submitted, counted from the one before it.

    Machines differ in speed, so the story waits for what should be seen first: until the job
    `after` has trained on `workers` at once, though no longer than `at_the_latest_seconds`.
    """

    at_the_latest_seconds: float
    after: str | None = None
    workers: int = 1

    def __str__(self) -> str:
        if self.after is None:
            return "soon"
        return f"when {self.after} trains on {self.workers} workers"

    def is_due(self, waited_seconds: float, most_workers: Mapping[str, int]) -> bool:
        """True if it is time, given the most workers that each job has had at once."""
        has_seen = self.after is not None and most_workers.get(self.after, 0) >= self.workers
        return has_seen or waited_seconds >= self.at_the_latest_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """One job of the demo."""

    name: str
    team: str
    arrival: SubmissionTime
    script: str
    arguments: tuple[str, ...]
    max_workers: int
    base_batch: int
    max_batch: int
    bound: Bound

    def spec(self, *, scripts: Scripts, run: str) -> dict[str, Any]:
        """The job as it is sent to the service, marked as part of this run of the demo."""
        return {
            **({"image": scripts.image} if scripts.image else {}),
            "name": self.name,
            "team": self.team,
            "command": scripts.command(self.script, *self.arguments),
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

AT_ONCE = SubmissionTime(at_the_latest_seconds=0)
WHEN_BORROWED = SubmissionTime(after="digits-cnn", workers=3, at_the_latest_seconds=60)
WHEN_RECLAIMED = SubmissionTime(after="text-transformer", workers=2, at_the_latest_seconds=60)
SOON_AFTER = SubmissionTime(at_the_latest_seconds=15)

_ACCURATE = Bound(value="accuracy", at_least=0.95)  # of held-out digits; guessing: 0.1
_FLUENT = Bound(value="held_out_loss", at_most=2.5)  # nats per letter; guessing: 4.6


def jobs() -> tuple[DemoJob, ...]:
    """The demo's jobs in the order they are submitted; three to six minutes on two cores."""
    return (
        _digits("digits-cnn", AT_ONCE, epochs=150, max_workers=4),
        _transformer("text-transformer", WHEN_BORROWED, epochs=4, max_workers=4),
        _digits("digits-small", WHEN_RECLAIMED, epochs=30, max_workers=2),
        _transformer("text-small", SOON_AFTER, epochs=1, max_workers=2),
    )


def _digits(name: str, arrival: SubmissionTime, *, epochs: int, max_workers: int) -> DemoJob:
    return DemoJob(
        name=name,
        team="vision",
        arrival=arrival,
        script="digits_cnn.py",
        arguments=("--epochs", str(epochs)),
        max_workers=max_workers,
        base_batch=64,
        max_batch=512,
        bound=_ACCURATE,
    )


def _transformer(name: str, arrival: SubmissionTime, *, epochs: int, max_workers: int) -> DemoJob:
    return DemoJob(
        name=name,
        team="language",
        arrival=arrival,
        script="stdlib_transformer.py",
        arguments=("--epochs", str(epochs)),
        max_workers=max_workers,
        base_batch=32,
        max_batch=128,
        bound=_FLUENT,
    )
