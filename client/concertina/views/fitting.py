"""What do our tables look like? No lines, and no more columns than the terminal has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.measure import Measurement
from rich.table import Table

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console, ConsoleOptions, RenderableType

FEWEST: Final = 30  # of a terminal's columns, for the last of ours, if it has so much to say
_GAP: Final = 2


class FittingTable:
    """A table whose last column, mostly the reason, is the last that a narrow terminal loses.

    `first_to_go` names columns in the order in which they are left out until the last one has
    room. That one takes what width is left, and is cut where that is too little.
    """

    def __init__(self, *columns: str, first_to_go: Iterable[str] = ()) -> None:
        self.columns = list(columns)
        self._first_to_go = list(first_to_go)
        self._rows: list[tuple[RenderableType, ...]] = []

    def add_row(self, *cells: RenderableType) -> None:
        self._rows.append(cells)

    def choose(self, names: str) -> None:
        """Show these columns alone, named with commas between them, in any letters, as ordered.

        Raises:
            BadInput: there is no such column.
        """
        chosen = [name.strip().upper() for name in names.split(",") if name.strip()]
        known = [name for name in self.columns if name]
        unknown = [name for name in chosen if name not in known]
        if unknown or not chosen:
            wrong = f"has no column {unknown[0]!r}" if unknown else "names no column"
            raise BadInput(f"--columns {wrong}. There are: {', '.join(known)}.")
        places = [self.columns.index(name) for name in chosen]
        self._rows = [tuple(row[place] for place in places) for row in self._rows]
        self.columns, self._first_to_go = chosen, []

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        widths = [self._width(place, console, options) for place in range(len(self.columns))]
        yield self._drawn(self._places(widths, options.max_width))

    def _width(self, place: int, console: Console, options: ConsoleOptions) -> int:
        cells = (row[place] for row in self._rows)
        natural = (Measurement.get(console, options, cell).maximum for cell in cells)
        return max(len(self.columns[place]), *natural, 0)

    def _places(self, widths: list[int], room: int) -> list[int]:
        """Return the places of the columns that there is room for."""
        needed = [*widths[:-1], min(widths[-1], max(FEWEST, len(self.columns[-1])))]
        places = list(range(len(widths)))
        for name in self._first_to_go:
            if sum(needed[place] + _GAP for place in places) - _GAP <= room:
                break
            places.remove(self.columns.index(name))
        return places

    def _drawn(self, places: list[int]) -> Table:
        table = Table(
            box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", expand=True
        )
        for place in places[:-1]:
            table.add_column(self.columns[place], no_wrap=True)
        table.add_column(self.columns[places[-1]], overflow="ellipsis", no_wrap=True, ratio=1)
        for row in self._rows:
            table.add_row(*(row[place] for place in places))
        return table
