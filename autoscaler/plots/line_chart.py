"""Curves over a common axis: lines, staircases, or several shares stacked into areas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from autoscaler.plots import frame, palette
from autoscaler.plots.axis import Axis, Side, lay
from autoscaler.plots.svg import Point, element, hint, path, steps, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One curve; `slot` is its colour's place in the palette."""

    name: str
    points: tuple[Point, ...]
    slot: int
    is_staircase: bool = False
    is_dashed: bool = False
    has_marks: bool = False  # a dot at each point, for curves of few measurements


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Several curves. `limit` draws a dashed level with its name, such as the pool's size."""

    description: str
    series: Sequence[Series]
    x: Axis
    y: Axis
    limit: tuple[str, float] | None = None
    width: float = frame.WIDTH
    height: float = frame.HEIGHT

    def drawn(self) -> frame.Picture:
        legend = frame.legend(
            [
                frame.LegendEntry(name=one.name, slot=one.slot, is_dashed=one.is_dashed)
                for one in self.series
            ],
            width=self.width,
        )
        points = list(chain.from_iterable(one.points for one in self.series))
        levels = [y for _, y in points] + ([self.limit[1]] if self.limit else [])
        across = lay(self.x, [x for x, _ in points], start=frame.LEFT, end=self.width - frame.RIGHT)
        top = frame.TOP + legend.height
        up = lay(self.y, levels, start=self.height - frame.BOTTOM, end=top)
        curves = (_curve(one, across, up) for one in self.series)
        marks = (frame.grid(across, up), self._limit(across, up), *curves, legend.drawn(4.0))
        return frame.Picture(
            marks="".join(marks),
            width=self.width,
            height=self.height,
            description=self.description,
        )

    def _limit(self, across: Side, up: Side) -> str:
        if self.limit is None:
            return ""
        name, level = self.limit
        y = up.position(level)
        line = element("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="limit")
        return line + text(name, x=across.end, y=y - 5, text_anchor="end")


def _curve(series: Series, across: Side, up: Side) -> str:
    if not series.points:
        return ""
    pixels: list[Point] = [(across.position(x), up.position(y)) for x, y in series.points]
    colour = palette.colour(series.slot)
    line = element(
        "path",
        hint(series.name),
        d=path(steps(pixels) if series.is_staircase else pixels),
        class_="line dashed" if series.is_dashed else "line",
        style=f"stroke:{colour}",
    )
    if not series.has_marks:
        return line
    return line + "".join(
        element("circle", cx=x, cy=y, r=3.0, style=f"fill:{colour}") for x, y in pixels
    )
