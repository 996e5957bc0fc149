"""Which worker holds the others up? Each one's own speed is held against the median of all.

The rule of *Resource Elasticity in Distributed Deep Learning* (Or, Zhang, Freedman; MLSys 2020),
on the time a worker computes, not on the time of a step, which is the slowest worker's for all:

    x_i = throughput_i / median throughput
    e_i = 0.1 · x_i + 0.9 · e_i            beginning with 1: nobody is slow before it is seen
    worker i is a straggler while e_i < 0.8

Where this goes beyond the paper:

- One round of the rule is one report of a worker, at most one a second and of at least one step.
  So short steps are averaged before they are judged, and one hiccup is one round, not twenty.
- Shares of a batch may differ by a sample, which matters when they are small, and part of a step
  takes equally long whatever the share. A worker counts as slow only if it is slow both in samples
  a second and in steps a second: the truth about a share of another size lies between the two.
- It must have been below for `ROUNDS_TO_CONFIRM` rounds in a row: a worker that pauses for some
  seconds now and then (a neighbour's job, a slow disk) would only move its pauses elsewhere.
- With two workers the median is the mean of both, so the slower one is a straggler once it takes
  1.5 times as long, not 1.25: of two, either may be the one that is not as usual. One alone is
  never slow.
- Rank 0 counts like any other: the training's progress is not its alone to tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

from concertina_worker.protocol import WorkerReport

WEIGHT_OF_A_ROUND: Final = 0.1
SLOWEST: Final = 0.8
ROUNDS_TO_CONFIRM: Final = 10  # guessed: ends false alarms of benchmarks/false_alarms.py


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerThroughput:
    """What a worker computed since its last report: steps it had samples in, and no waiting."""

    steps: int
    samples: int  # of its own shares
    compute_seconds: float

    @property
    def steps_per_second(self) -> float:
        return self.steps / self.compute_seconds

    @property
    def samples_per_second(self) -> float:
        return self.samples / self.compute_seconds


class Speeds:
    """Compares the speeds of the running generation's workers."""

    def __init__(self) -> None:
        self._paces: dict[str, WorkerThroughput] = {}  # newest, of this generation
        self._relative: dict[str, float] = {}  # e_i
        self._rounds_below: dict[str, int] = {}  # in a row

    def begin_generation(self, members: Collection[str]) -> None:
        """Keep what is known of those who stay; paces of other shares cannot be compared."""
        self._paces = {}
        for worker in self._relative.keys() - set(members):
            del self._relative[worker]
            del self._rounds_below[worker]

    def note(self, worker: str, pace: WorkerThroughput) -> None:
        """A round for this worker, as soon as another has told its pace, too."""
        self._paces[worker] = pace
        if len(self._paces) > 1:
            before = self._relative.get(worker, 1.0)
            x = compared(pace, self._paces)
            e = WEIGHT_OF_A_ROUND * x + (1 - WEIGHT_OF_A_ROUND) * before
            self._relative[worker] = e
            rounds = self._rounds_below.get(worker, 0)
            self._rounds_below[worker] = rounds + 1 if e < SLOWEST else 0

    def relative_speed(self, worker: str) -> float | None:
        """0.6: it is 40 % slower than the median; None: not known."""
        return self._relative.get(worker)

    def is_straggler(self, worker: str) -> bool:
        return self._rounds_below.get(worker, 0) >= ROUNDS_TO_CONFIRM

    def stragglers(self) -> frozenset[str]:
        return frozenset(filter(self.is_straggler, self._rounds_below))

    def tell(self, report: WorkerReport) -> None:
        """Add to the report what is known of the worker, in as many digits as mean something."""
        worker = report["worker_id"]
        if pace := self._paces.get(worker):
            report["compute_seconds"] = _rounded(pace.compute_seconds / pace.steps)
            report["samples_per_second"] = _rounded(pace.samples_per_second)
        if (speed := self.relative_speed(worker)) is not None:
            report["relative_speed"] = round(speed, 2)
            report["is_straggler"] = self.is_straggler(worker)


def compared(own: WorkerThroughput, paces: Mapping[str, WorkerThroughput]) -> float:
    """x_i: in samples or in steps a second, whichever speaks for the worker."""
    by_samples = own.samples_per_second / median(p.samples_per_second for p in paces.values())
    by_steps = own.steps_per_second / median(p.steps_per_second for p in paces.values())
    return max(by_samples, by_steps)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
