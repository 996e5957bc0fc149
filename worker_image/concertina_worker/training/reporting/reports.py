"""How fast does the training go? Times of steps, measured where they pass, told once a second."""

from __future__ import annotations

import time
from collections import deque
from statistics import median
from typing import Final

from concertina_worker.protocol import MeasurementReport, MetricReport
from concertina_worker.training.step import CommittedStep

REPORT_SECONDS: Final = 1.0
STEPS_LEFT_OUT: Final = 3  # after a switch: caches are cold, state is on its way
STEPS_TO_SETTLE: Final = 2  # commits after which the stall of a switch is known
RECENT_WEIGHT: Final = 0.05  # guessed: of a new step; about the last 20 steps count


class StepClock:
    """Measures from one committed step to the next; paused while the script does other things."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._paused_at: float | None = None
        self._usual: deque[float] = deque(maxlen=32)
        self._since_switch = 0
        self._stall: float | None = None
        self._mean: float | None = None

    def pause(self) -> None:
        """Pause the clock between two epochs: evaluation is no step."""
        self._paused_at = time.monotonic()

    def resume(self) -> None:
        if self._paused_at is not None and self._last is not None:
            self._last += time.monotonic() - self._paused_at
        self._paused_at = None

    def begin_generation(self) -> None:
        self._since_switch = 0
        self._stall = 0.0 if self._last is not None else None
        self._mean = None

    def commit(self, *, is_whole_batch: bool, is_switching: bool = False) -> float:
        """Seconds since the last committed step; 0 for the first.

        `is_switching`: state is on its way to joiners, so that the switch goes on.
        """
        now = time.monotonic()
        seconds = now - self._last if self._last is not None else 0.0
        self._last = now
        self._since_switch = 1 if is_switching else self._since_switch + 1
        if self._stall is not None and self._since_switch <= STEPS_TO_SETTLE:
            self._stall = max(self._stall, seconds - self.usual_seconds)
        elif seconds:
            self._usual.append(seconds)
        if self._since_switch > STEPS_LEFT_OUT and is_whole_batch:
            self._average(seconds)
        return seconds

    @property
    def usual_seconds(self) -> float:
        """The median of the latest steps."""
        return median(self._usual) if self._usual else 0.0

    @property
    def stall_seconds(self) -> float | None:
        """The stall of a switch, at the moment when it becomes known; else None."""
        return (self._stall or 0.0) if self._since_switch == STEPS_TO_SETTLE else None

    def measurement(self, *, workers: int, global_batch_size: int) -> MeasurementReport | None:
        if self._mean is None:
            return None
        return {
            "workers": workers,
            "global_batch_size": global_batch_size,
            "steps": self._since_switch - STEPS_LEFT_OUT,
            "step_seconds": self._mean,
        }

    def _average(self, seconds: float) -> None:
        """Plain mean at first, then recent steps weigh more."""
        steps = self._since_switch - STEPS_LEFT_OUT
        weight = max(1 / steps, RECENT_WEIGHT)
        before = self._mean if self._mean is not None else seconds
        self._mean = before + weight * (seconds - before)


class StepReporter:
    """Gathers steps into one report a second."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self._steps: list[tuple[float, CommittedStep]] = []
        self._newest: list[tuple[float, CommittedStep]] = []
        self._told_at = time.monotonic()

    def add(self, seconds: float, step: CommittedStep) -> None:
        self._steps.append((seconds, step))

    @property
    def is_due(self) -> bool:
        return bool(self._steps) and time.monotonic() - self._told_at >= REPORT_SECONDS

    def take(self, *, repeat: bool) -> MetricReport | None:
        """The report on what has passed since the last one; None if nothing has.

        `repeat`: report the newest step once more then, because there are new values.
        """
        entries = self._steps or (self._newest if repeat else [])
        if not entries:
            return None
        seconds = [spent for spent, _ in entries]
        steps = [step for _, step in entries]
        self._steps, self._newest = [], entries[-1:]
        self._told_at = time.monotonic()
        newest = steps[-1]
        waited = median(step.waited_seconds for step in steps)
        return {
            "at": time.time(),
            "generation": newest.generation,
            "step": newest.step,
            "epoch": newest.epoch,
            "samples": newest.samples,
            "samples_per_second": _rate(sum(step.batch for step in steps), sum(seconds)),
            "step_seconds": median(seconds),
            "compute_seconds": max(median(seconds) - waited, 0.0),
            "communication_seconds": waited,
            "local_batch_size": newest.local_batch_size,
            "learning_rate": newest.learning_rate,
            "values": dict(self.values),
        }


def _rate(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else 0.0
