"""How is an element of an SVG picture written?"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

Point = tuple[float, float]


def element(name: str, *children: str, **attributes: str | float) -> str:
    """An element; `stroke_width=1` is written `stroke-width="1"`, and `class_` as `class`."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_text(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def text(words: str, **attributes: str | float) -> str:
    return element("text", escape(words), **attributes)


def hint(words: str) -> str:
    """Return what a browser shows when one points at the element around it."""
    return element("title", escape(words))


def path(points: Iterable[Point]) -> str:
    """The `d` of a line through the points; tenths of a pixel are enough for any eye."""
    return "M" + "L".join(f"{_text(x)} {_text(y)}" for x, y in points)


def steps(points: Iterable[Point]) -> list[Point]:
    """The corners of a staircase: each value holds until the next point."""
    corners: list[Point] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return corners


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
