"""Horizontal bars with their values: the same figure for each of several things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autoscaler.plots import frame, palette
from autoscaler.plots.svg import element, text
from autoscaler.plots.units import Unit, written

BAR: Final = 18.0
LINE: Final = 30.0
NAMES: Final = 170.0
VALUES: Final = 96.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar; None where there is no value."""

    name: str
    value: float | None
    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Bars under one another, from 0 to the largest."""

    description: str
    bars: Sequence[Bar]
    unit: Unit = Unit.NUMBER

    def drawn(self) -> frame.Picture:
        longest = max((bar.value or 0.0 for bar in self.bars), default=0.0) or 1.0
        rows = (_row(bar, number, longest, self.unit) for number, bar in enumerate(self.bars))
        height = LINE * len(self.bars) + 8
        return frame.Picture(
            marks="".join(rows), width=frame.WIDTH, height=height, description=self.description
        )


def _row(bar: Bar, number: int, longest: float, unit: Unit) -> str:
    room = frame.WIDTH - NAMES - VALUES
    y = 4 + number * LINE + (LINE - BAR) / 2
    width = max(room * (bar.value or 0.0) / longest, 1.0)
    box = {"x": NAMES, "y": y, "height": BAR, "rx": 3.0}
    return "".join(
        (
            text(bar.name, x=NAMES - 12, y=y + 13, text_anchor="end", class_="name"),
            element("rect", width=room, **box, class_="track"),
            element("rect", width=width, **box, style=f"fill:{palette.colour(bar.slot)}"),
            text(written(bar.value, unit), x=frame.WIDTH - VALUES + 10, y=y + 13, class_="name"),
        )
    )
