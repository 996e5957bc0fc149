"""Does a schedule end with the training? One made of a length that is not the job's does not.

A script takes its total from `len(loader)`, which counts batches of the loader's own size, or
samples. What it is stepped by is known once it has moved: in the first steps, or behind the first
epoch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from torch.optim import lr_scheduler as schedulers

from concertina_worker.manual import Section

_MOST_OFF: Final = 0.03  # guessed: a difference that nobody would notice
_ROUNDING: Final = 1  # of schedules that count from 1, or up to the last but one
_COUNTED: Final[dict[type, str]] = {
    schedulers.OneCycleLR: "total_steps",
    schedulers.CosineAnnealingLR: "T_max",
    schedulers.LinearLR: "total_iters",
    schedulers.PolynomialLR: "total_iters",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleLength:
    """How many steps a schedule is made for."""

    steps: int
    name: str
    may_be_less: bool = False  # than the training takes: a warm-up, or one that stays where it ends


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLength:
    """The length of the training, in what schedules count."""

    epochs: int
    steps_per_epoch: int | None  # of the base batch; None: not known before the end of the stream


class ScheduleWatch:
    """Looks at the schedules of one script until they have moved, then never again."""

    def __init__(self, warn: Callable[[str, Section], None]) -> None:
        self._warn = warn
        self._before: list[tuple[Any, int]] | None = None
        self._is_over = False

    @property
    def is_looking(self) -> bool:
        return self._before is not None and not self._is_over

    def begin_epoch(self, of_script: Sequence[Any]) -> None:
        if self._before is None:
            known = [getattr(one, "scheduler", one) for one in of_script]  # in Accelerate's wrapper
            self._before = [
                (one, _position(one)) for one in known if isinstance(one, schedulers.LRScheduler)
            ]
            self._is_over = not self._before

    def look(self, length: TrainingLength, *, is_in_epoch: bool) -> None:
        """Look what has moved since the last look, after a step or between epochs."""
        moved = [one for one, before in self._before or () if _position(one) > before]
        self._is_over = self._is_over or bool(moved) or not is_in_epoch
        steps = length.steps_per_epoch if is_in_epoch else 1
        if steps is None:
            return
        for total in [total for one in moved for total in _totals(one)]:
            if _is_off(total, steps * length.epochs):
                self._tell(total, steps, length.epochs)

    def _tell(self, total: ScheduleLength, steps: int, epochs: int) -> None:
        takes = f"{epochs} epochs of {steps} steps of the job's batch" if steps > 1 else "epochs"
        self._warn(
            f"{total.name} is made for {total.steps} steps, but this training makes"
            f" {steps * epochs} of them ({takes}): its rates would not end where they are meant"
            f" to. Give it {steps * epochs}; len(loader) counts batches of the loader's own size.",
            Section.SCHEDULERS,
        )


def _position(scheduler: Any) -> int:
    """A chain knows none of its own."""
    is_chain = isinstance(scheduler, schedulers.ChainedScheduler)
    one = scheduler._schedulers[0] if is_chain else scheduler  # noqa: SLF001
    return int(one.last_epoch)


def _is_off(total: ScheduleLength, steps: int) -> bool:
    if abs(total.steps - steps) <= max(_MOST_OFF * steps, _ROUNDING):
        return False
    return total.steps > steps or not (total.may_be_less or _may_end_sooner())


def _may_end_sooner() -> bool:
    """A script that counts steps says by `job.finish` when it is through."""
    script = Path(getattr(sys.modules["__main__"], "__file__", None) or "")
    return script.is_file() and ".finish(" in script.read_text(errors="replace")


def _totals(scheduler: Any) -> list[ScheduleLength]:
    """The lengths of a schedule or its parts; none if it has no end, or hides it."""
    name = type(scheduler).__name__
    for kind, attribute in _COUNTED.items():
        if isinstance(scheduler, kind):
            may_be_less = getattr(scheduler, "end_factor", 0) > 0
            return [
                ScheduleLength(
                    steps=getattr(scheduler, attribute), name=name, may_be_less=may_be_less
                )
            ]
    match scheduler:
        case schedulers.SequentialLR():
            begins = scheduler._milestones[-1]  # noqa: SLF001 - there is no other way to it
            last = _totals(scheduler._schedulers[-1])  # noqa: SLF001
            return [replace(total, steps=begins + total.steps, name=name) for total in last]
        case schedulers.ChainedScheduler():
            return [total for one in scheduler._schedulers for total in _totals(one)]  # noqa: SLF001
        case schedulers.LambdaLR():
            return _of_functions(scheduler)
    return []


def _of_functions(scheduler: schedulers.LambdaLR) -> list[ScheduleLength]:
    """Return the totals of transformers' functions; what others compute nobody knows."""
    keywords = [getattr(function, "keywords", {}) for function in scheduler.lr_lambdas]
    totals = {one["num_training_steps"] for one in keywords if "num_training_steps" in one}
    name = "The schedule of transformers"
    return [ScheduleLength(steps=int(total), name=name) for total in sorted(totals)]
