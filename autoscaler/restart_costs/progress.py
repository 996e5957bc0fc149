"""How far did the lines of one shape get, and can those of two runs be compared?

Not every number tells how far a script is: one that begins anew with each epoch does so only
beside the epoch, and `100/938` is another place than `100/469`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autoscaler.restart_costs.numbered_lines import NumberedCount, NumberedLine
from jobs.models.generation import ProgressUnit

Place = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How lines of one shape are put in order, and what lies between two of them."""

    place: Callable[[NumberedLine], Place]
    unit: ProgressUnit
    is_countable: bool

    def between(self, earlier: Place, later: Place) -> float | None:
        """Return how many units they are; None: that cannot be told."""
        if not self.is_countable or earlier[:-1] != later[:-1]:
            return None
        return later[-1] - earlier[-1]


def scale_of(old: Sequence[NumberedLine], new: Sequence[NumberedLine]) -> Scale | None:
    """Compare lines of one shape, of a run and of the next one. None: they do not compare.

    Within each run the number must never go back, and in one of them it must go forward.
    """
    scale = _scale(old, new)
    runs = [[scale.place(line) for line in run] for run in (old, new)]
    goes_back = any(earlier > later for run in runs for earlier, later in pairwise(run))
    return None if goes_back or not any(map(is_rising, runs)) else scale


def is_rising(places: Sequence[Place]) -> bool:
    return any(earlier < later for earlier, later in pairwise(places))


def _scale(old: Sequence[NumberedLine], new: Sequence[NumberedLine]) -> Scale:
    inner = [line.inner for line in (*old, *new) if line.inner]
    if not inner:
        return Scale(
            place=lambda line: (_value(line.epoch),), unit=ProgressUnit.EPOCH, is_countable=True
        )
    totals, unit = {count.total for count in inner}, inner[0].unit
    is_same = len(totals) == 1
    within = _value if is_same else _share
    if all(line.epoch is None for line in (*old, *new)) or _goes_on_over_epochs(old, new):
        return Scale(place=lambda line: (within(line.inner),), unit=unit, is_countable=is_same)
    each = totals.pop() if is_same else None
    if each is not None:
        return Scale(
            place=lambda line: (_value(line.epoch) * each + _value(line.inner),),
            unit=unit,
            is_countable=True,
        )
    return Scale(
        place=lambda line: (_value(line.epoch), within(line.inner)),
        unit=unit,
        is_countable=is_same,
    )


def _goes_on_over_epochs(*runs: Sequence[NumberedLine]) -> bool:
    """True if what is counted beside the epoch does not begin anew with it."""
    steps = [
        (_value(before.epoch), _value(after.epoch), _value(after.inner) - _value(before.inner))
        for run in runs
        for before, after in pairwise(run)
    ]
    return all(more >= 0 for *_, more in steps) and any(
        more > 0 and later > earlier for earlier, later, more in steps
    )


def _value(count: NumberedCount | None) -> float:
    return count.value if count else 0.0


def _share(count: NumberedCount | None) -> float:
    return count.value / (count.total or 1.0) if count else 0.0
