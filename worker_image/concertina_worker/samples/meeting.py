"""Where in the script do workers meet? Each says so in a row of a table that all exchange.

Workers meet in `job.mean` and in the first step of an epoch (in a stream in every step). Both
exchange a table of this shape first, so that a worker that comes to the one while another is at
the other finds that out at once, where sums of different things would make no sense.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import torch

from concertina_worker.manual import Section

Row = tuple[int, int, int, int]

_AT_MEAN = -2  # no length of a data set


def table_of(row: Row, *, rank: int, size: int) -> torch.Tensor:
    """A table that holds the rows of all workers once it is summed."""
    table = torch.zeros(size, len(row), dtype=torch.int64)
    table[rank] = torch.tensor(row)
    return table


def row_at_mean(value: float, *, line: int) -> Row:
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return (_AT_MEAN, line, bits, 0)


def values_at_mean(table: torch.Tensor) -> list[float]:
    """The values of all workers, by rank. Raises ElsewhereError."""
    rows = table.tolist()
    check_place(rows, is_mean=True)
    return [struct.unpack("<d", struct.pack("<q", bits))[0] for _, _, bits, _ in rows]


def check_place(rows: Sequence[Sequence[int]], *, is_mean: bool = False) -> None:
    """Raises ElsewhereError when workers meet that are at different places."""
    lines = [row[1] for row in rows if row[0] == _AT_MEAN]
    if lines and not (is_mean and len(lines) == len(rows)):
        raise ElsewhereError(line=lines[0])


class ElsewhereError(Exception):
    """Some workers call `job.mean` while others have gone on."""

    def __init__(self, *, line: int) -> None:
        super().__init__(
            f"job.mean was called in line {line} on some workers only, while others began a step:"
            " call it on all, equally often, outside of `if job.is_main:`"
            f" ({Section.MISTAKES})"
        )
        self.line = line
