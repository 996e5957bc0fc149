"""Which rows of a tensor go from whom to whom when it is laid out for other owners?

A tensor is divided along its first dimension as `fully_shard` does it: in pieces of equally many
rows, rounded up, in the order of the owners. So the last ones may have fewer, or none. Everybody
knows who has what by arithmetic, and nobody has to ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowOwners:
    """Those who have a tensor's rows, in order; one alone has all of it."""

    names: tuple[str, ...]

    def rows_of(self, name: str, rows: int) -> range:
        """Return which of a tensor's rows this owner has; none if it is no owner."""
        if name not in self.names:
            return range(0)
        each = -(-rows // len(self.names))
        start = min(self.names.index(name) * each, rows)
        return range(start, min(start + each, rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowStretch:
    """Some successive rows of one of several tensors."""

    tensor: int  # its number
    rows: range


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRows:
    """How large a tensor is."""

    rows: int
    row_bytes: int


def common(one: range, other: range) -> range:
    """Return the rows that are in both."""
    start = max(one.start, other.start)
    return range(start, max(min(one.stop, other.stop), start))


def rounds(tensors: Sequence[TensorRows], *, most_bytes: int) -> Iterator[list[RowStretch]]:
    """Divide tensors into stretches, so many of them together as travel at once.

    Each row is in exactly one. One row alone may have more bytes.
    """
    together: list[RowStretch] = []
    room = most_bytes
    for number, tensor in enumerate(tensors):
        start = 0
        while start < tensor.rows:
            fitting = max(room, 0) // tensor.row_bytes if tensor.row_bytes else tensor.rows
            if not fitting and together:
                yield together
                together, room = [], most_bytes
                continue
            stop = min(start + max(fitting, 1), tensor.rows)
            together.append(RowStretch(tensor=number, rows=range(start, stop)))
            room -= (stop - start) * tensor.row_bytes
            start = stop
    if together:
        yield together
