"""What surrounds the marks of a chart: its size, axes, grid, title and legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import quoteattr

from autoscaler.plots import palette
from autoscaler.plots.axis import Side
from autoscaler.plots.svg import element, text

WIDTH: Final = 600.0
WIDE: Final = 1200.0  # for charts that have a line of the page to themselves
HEIGHT: Final = 300.0
TOP: Final = 14.0
RIGHT: Final = 28.0
BOTTOM: Final = 46.0
LEFT: Final = 62.0
LEGEND_LINE: Final = 22.0
TITLE_LINE: Final = 30.0
_LETTER: Final = 6.6  # mean width of a letter of the legend
_SWATCH: Final = 22.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """The name of a series and its place in the palette."""

    name: str
    slot: int
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """Entries set in as many lines as they need."""

    lines: tuple[tuple[LegendEntry, ...], ...]

    @property
    def height(self) -> float:
        return len(self.lines) * LEGEND_LINE

    def drawn(self, top: float) -> str:
        pieces = []
        for number, line in enumerate(self.lines):
            x, y = LEFT, top + number * LEGEND_LINE + LEGEND_LINE / 2
            for entry in line:
                pieces.append(_entry(entry, x, y))
                x += _width(entry)
        return "".join(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A finished chart; `description` is what a screen reader says of it."""

    marks: str
    width: float
    height: float
    description: str

    def inline(self) -> str:
        """An element of a page which defines the chart's style."""
        return (
            f'<svg class="chart" viewBox="0 0 {self.width:.0f} {self.height:.0f}" role="img"'
            f" aria-label={quoteattr(self.description)}>{self.marks}</svg>"
        )

    def document(self) -> str:
        """A file of its own: its title, style and a background, light or dark."""
        height = self.height + TITLE_LINE
        style = f"<style>{palette.tokens_style()}{palette.CHART_STYLE}</style>"
        surface = element("rect", width=self.width, height=height, rx=8.0, fill="var(--surface)")
        title = text(self.description, x=TITLE_LINE / 2, y=TITLE_LINE - 8, class_="title")
        marks = element("g", self.marks, transform=f"translate(0 {TITLE_LINE:.0f})")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {height:.0f}"'
            f' class="chart" width="{self.width:.0f}">{style}{surface}{title}{marks}</svg>\n'
        )


def legend(entries: Sequence[LegendEntry], *, width: float) -> Legend:
    """A legend of several entries; a single series is named by the title."""
    if len(entries) < 2:  # noqa: PLR2004 - one is no choice
        return Legend(lines=())
    lines: list[list[LegendEntry]] = [[]]
    room = width - LEFT - RIGHT
    for entry in entries:
        if lines[-1] and sum(map(_width, lines[-1])) + _width(entry) > room:
            lines.append([])
        lines[-1].append(entry)
    return Legend(lines=tuple(map(tuple, lines)))


def grid(across: Side, up: Side) -> str:
    """Horizontal grid lines, the base line, ticks and labels of both axes."""
    pieces = []
    for y, words in up.ticks():
        pieces += [
            element("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="grid"),
            text(words, x=across.start - 8, y=y + 4, text_anchor="end"),
        ]
    for x, words in across.ticks():
        pieces += [
            element("line", x1=x, x2=x, y1=up.start, y2=up.start + 4, class_="base"),
            text(words, x=x, y=up.start + 18, text_anchor="middle"),
        ]
    base = {"x1": across.start, "x2": across.end, "y1": up.start, "y2": up.start}
    pieces.append(element("line", **base, class_="base"))
    return "".join((*pieces, _labels(across, up)))


def _labels(across: Side, up: Side) -> str:
    middle = (across.start + across.end) / 2
    below = text(across.axis.label, x=middle, y=up.start + 38, text_anchor="middle")
    height = (up.start + up.end) / 2
    beside = text(
        up.axis.label, text_anchor="middle", transform=f"translate(14 {height:.0f}) rotate(-90)"
    )
    return below + beside


def _width(entry: LegendEntry) -> float:
    return _SWATCH + _LETTER * len(entry.name) + 16


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    style = f"stroke:{palette.colour(entry.slot)}"
    kind = "line dashed" if entry.is_dashed else "line"
    mark = element("line", x1=x, x2=x + 16, y1=y, y2=y, class_=kind, style=style)
    return mark + text(entry.name, x=x + _SWATCH, y=y + 4, class_="legend")
