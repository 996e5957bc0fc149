"""How fast does this worker compute its own shares, waiting for nobody? Told once a second.

The coordinator compares the workers' paces: see `coordinator.stragglers`.
"""

from __future__ import annotations

import time
from typing import Any, Final

from concertina_worker.training.reporting.reports import REPORT_SECONDS
from concertina_worker.training.step import CommittedStep

STEPS_LEFT_OUT: Final = 2  # of a generation: caches are cold, state is on its way


class OwnPace:
    """Adds up whole steps, and what of them was this worker's own."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()
        self._begin(generation=0)

    def add(self, step: CommittedStep) -> None:
        """A step without own samples says nothing."""
        if step.generation != self._generation:
            self._begin(step.generation)
        self._seen += 1
        if self._seen > STEPS_LEFT_OUT and step.own_samples:
            self._steps += 1
            self._samples += step.own_samples
            self._compute_seconds += step.compute_seconds

    def take(self) -> dict[str, Any] | None:
        """The fields of a `FromWorker.PACE`, when one is due."""
        if not self._compute_seconds or time.monotonic() - self._told_at < REPORT_SECONDS:
            return None
        fields = {
            "generation": self._generation,
            "steps": self._steps,
            "samples": self._samples,
            "compute_seconds": self._compute_seconds,
        }
        self._told_at = time.monotonic()
        self._clear()
        return fields

    def _begin(self, generation: int) -> None:
        self._generation = generation
        self._seen = 0
        self._clear()

    def _clear(self) -> None:
        self._steps = self._samples = 0
        self._compute_seconds = 0.0
