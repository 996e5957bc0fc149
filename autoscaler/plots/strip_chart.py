"""Who held how much, and when? One line per thing, darker where it held more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autoscaler.plots import frame, palette
from autoscaler.plots.axis import Axis, Side, lay
from autoscaler.plots.svg import element, hint, text
from autoscaler.plots.units import written

LINE: Final = 13.0
NAMES: Final = 150.0
FAINTEST: Final = 0.25  # so that one worker among hundreds still shows
_LONGEST_NAME: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One line: (from, to, level) of each stretch, and when it began to wait and ended."""

    name: str
    came: float
    ended: float
    stretches: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripChart:
    """Lines under one another over a common time axis."""

    description: str
    strips: Sequence[Strip]
    x: Axis
    slot: int

    def drawn(self) -> frame.Picture:
        ends = [0.0, *(strip.ended for strip in self.strips)]
        across = lay(self.x, ends, start=NAMES, end=frame.WIDE - frame.RIGHT)
        levels = [level for strip in self.strips for _, _, level in strip.stretches]
        most = max(levels, default=1)
        bottom = frame.TOP + LINE * len(self.strips)
        marks = [self._ticks(across, bottom)]
        for number, strip in enumerate(self.strips):
            marks += self._strip(strip, across, frame.TOP + number * LINE, most)
        return frame.Picture(
            marks="".join(marks),
            width=frame.WIDE,
            height=bottom + frame.BOTTOM,
            description=self.description,
        )

    def _ticks(self, across: Side, bottom: float) -> str:
        return "".join(
            element("line", x1=x, x2=x, y1=frame.TOP, y2=bottom, class_="grid")
            + text(words, x=x, y=bottom + 18, text_anchor="middle")
            for x, words in across.ticks()
        )

    def _strip(self, strip: Strip, across: Side, top: float, most: int) -> list[str]:
        name = strip.name[:_LONGEST_NAME]
        left, right = across.position(strip.came), across.position(strip.ended)
        box = {"y": top + 2, "height": LINE - 4}
        return [
            text(name, x=NAMES - 8, y=top + LINE - 3, text_anchor="end", class_="small"),
            element("rect", x=left, width=max(right - left, 1.0), **box, class_="track"),
            *(
                element(
                    "rect",
                    hint(f"{name}: {level} workers for {self._words(end - start)}"),
                    x=across.position(start),
                    width=max(across.position(end) - across.position(start), 0.6),
                    **box,
                    style=f"fill:{palette.colour(self.slot)}",
                    fill_opacity=f"{_darkness(level, most):.2f}",
                )
                for start, end, level in strip.stretches
            ),
        ]

    def _words(self, seconds: float) -> str:
        return written(seconds, self.x.unit)


def _darkness(level: int, most: int) -> float:
    """Each doubling is as much darker as the one before."""
    return FAINTEST + (1 - FAINTEST) * math.log2(level) / math.log2(most) if most > 1 else 1.0
