"""What do the cells of a CSV say? Reads them by column name, and says which cell is wrong."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

_MOST_SHOWN: Final = 300  # letters


class InvalidRecordingError(Exception):
    """A recording that cannot be read; says where, what is there, and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One line of a table, its number counted from 1 with the header."""

    number: int
    cells: Mapping[str, str]  # by lower-case column name

    def text(self, *names: str) -> str | None:
        """The first of these columns that is there and not empty."""
        return next((cell for name in names if (cell := self.cells.get(name, "").strip())), None)

    def required(self, *names: str) -> str:
        found = self.text(*names)
        if found is None:
            raise self.wrong(names[0], "", "a value")
        return found

    def number_of(self, *names: str, at_least: float = 0.0, at_most: float = math.inf) -> float:
        wanted = f"a number of at least {at_least:g}"
        value = self._converted(names, _finite, wanted, at_least)
        if value > at_most:
            raise self._unlike(names, f"a number of at most {at_most:g}")
        return value

    def count_of(self, *names: str, at_least: int = 1) -> int:
        wanted = f"a whole number of at least {at_least}"
        return int(self._converted(names, _whole, wanted, at_least))

    def seconds_of(self, *names: str) -> float:
        """A point in time: seconds, or a date and time (ISO 8601; UTC unless it says otherwise)."""
        wanted = "seconds, or a time like 2026-11-21 09:30:00"
        return self._converted(names, seconds_of, wanted, -math.inf)

    def wrong(self, column: str, value: str, wanted: str) -> InvalidRecordingError:
        found = f"'{value}'" if value else "empty or missing"
        return InvalidRecordingError(
            f"row {self.number}, column {column}: {found}; expected {wanted}"
        )

    def _converted(
        self, names: Sequence[str], convert: Callable[[str], float], wanted: str, at_least: float
    ) -> float:
        text = self.text(*names)
        if text is None:
            raise self._unlike(names, wanted)
        try:
            value = convert(text)
        except ValueError:
            raise self._unlike(names, wanted) from None
        if value < at_least:
            raise self._unlike(names, wanted)
        return value

    def _unlike(self, names: Sequence[str], wanted: str) -> InvalidRecordingError:
        """What `wrong` says of the first of these columns that holds something."""
        name = next((name for name in names if self.cells.get(name, "").strip()), names[0])
        return self.wrong(name, self.text(*names) or "", wanted)


def rows_of(
    text: str,
    *,
    needs: Sequence[Sequence[str]],
    knows: Collection[str] | None = None,
    header: Sequence[str] | None = None,
) -> Iterator[TableRow]:
    """All rows of a CSV. Of each group in `needs` one column must be there.

    Columns that are not in `knows` are refused, so that no misspelt one is passed over. None: other
    people's recordings, which have columns of their own. `header`: the names of the columns, where
    the text begins with its first row; None: its first line names them.
    """
    reader = _lines(text)
    if header is None:
        header = _named(next(reader, []))
    if not any(header):
        raise InvalidRecordingError("the recording is empty; expected a header line")
    for group in missing_from(header, needs):
        names = " or ".join(group)
        raise InvalidRecordingError(f"no column {names} among: {shown(header)}")
    strange = [name for name in header if knows is not None and name not in knows]
    if strange:
        raise InvalidRecordingError(f"column '{strange[0]}' is none of: {', '.join(knows or ())}")
    for number, cells in enumerate(reader, 2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            raise InvalidRecordingError(
                f"row {number}: {len(cells)} cells under {len(header)} column names"
            )
        yield TableRow(number=number, cells=dict(zip(header, cells, strict=False)))


def header_of(text: str) -> list[str]:
    """The column names of a CSV, in lower case; none where it is empty."""
    return _named(next(_lines(text), []))


def missing_from(header: Collection[str], needs: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The groups of which no column is there."""
    return [group for group in needs if not set(group) & set(header)]


def shown(header: Sequence[str]) -> str:
    """Column names for a message, which may be those of a file of another kind."""
    text = ", ".join(header)
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_MOST_SHOWN])


def _named(cells: Sequence[str]) -> list[str]:
    return [name.strip().lower() for name in cells]


def _lines(text: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), skipinitialspace=True)
    try:
        yield from reader
    except csv.Error as problem:
        raise InvalidRecordingError(f"line {reader.line_num}: {problem}") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _whole(text: str) -> int:
    value = _finite(text)
    if value != int(value):
        raise ValueError
    return int(value)


def seconds_of(text: str) -> float:
    """A point in time, as `TableRow.seconds_of`.

    Raises:
        ValueError: it is none.
    """
    try:
        return _finite(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
