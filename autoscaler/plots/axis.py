"""Where along a side of a chart does a value lie, and which values are written there?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from autoscaler.plots.units import Unit, written

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_TIME_STEPS: Final = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(count * _MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * _HOUR for count in (1, 2, 3, 6, 12)),
    *(count * _DAY for count in (1, 2, 5, 10, 20, 50, 100)),
)
_TIME_DECADES: Final = (
    *(0.001, 0.01, 0.1, 1.0, 10.0, _MINUTE, 10 * _MINUTE),
    *(_HOUR, 10 * _HOUR, 4 * _DAY, 40 * _DAY),
)
_EMPTY: Final = 1.0  # the length of an axis on which all values are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What one side of a chart measures. Bounds that are None come from the values."""

    label: str = ""
    unit: Unit = Unit.NUMBER
    is_logarithmic: bool = False
    lowest: float | None = None
    highest: float | None = None
    ticks: int = 5  # about so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """An axis laid along pixels `start` to `end`; `end` may be the smaller one (upwards)."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    def position(self, value: float) -> float:
        """The pixel of a value; values beyond the ends lie on them."""
        low, high = self._warped(self.low), self._warped(self.high)
        share = (self._warped(min(max(value, self.low), self.high)) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Pixel and words of every tick."""
        values = self._decades() if self.axis.is_logarithmic else self._even()
        return [(self.position(value), written(value, self.axis.unit)) for value in values]

    def _warped(self, value: float) -> float:
        return math.log10(value) if self.axis.is_logarithmic else value

    def _even(self) -> list[float]:
        step = _step((self.high - self.low) / self.axis.ticks, self.axis.unit)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _decades(self) -> list[float]:
        if self.axis.unit is Unit.SECONDS:
            decades: Iterable[float] = _TIME_DECADES
        else:
            first, last = math.floor(self._warped(self.low)), math.ceil(self._warped(self.high))
            decades = (10.0**exponent for exponent in range(first, last + 1))
        return [value for value in decades if self.low <= value <= self.high]


def lay(axis: Axis, values: Iterable[float], *, start: float, end: float) -> Side:
    """The axis along those pixels, wide enough for all values."""
    fitting = [v for v in values if math.isfinite(v) and (v > 0 or not axis.is_logarithmic)]
    low = axis.lowest if axis.lowest is not None else min(fitting, default=0.0)
    high = axis.highest if axis.highest is not None else max(fitting, default=low)
    if axis.is_logarithmic:
        low = low if low > 0 else _EMPTY
    if high <= low:
        high = low * 10 if axis.is_logarithmic else low + _EMPTY
    return Side(axis=axis, low=low, high=high, start=start, end=end)


def _step(wanted: float, unit: Unit) -> float:
    """The smallest round step that is not below the wanted one."""
    if unit is Unit.SECONDS and wanted >= _TIME_STEPS[0]:
        return next((step for step in _TIME_STEPS if step >= wanted), _TIME_STEPS[-1])
    decade = 10.0 ** math.floor(math.log10(wanted))
    return next(decade * factor for factor in (1, 2, 5, 10) if decade * factor >= wanted * 0.999)
