"""Of how many jobs may one transaction hold the rows? Of a part of them, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

MOST_TOGETHER: Final = 50
"""Guessed: their people and coordinators wait for as long as it takes, a millisecond or two of a
processor for each; trades that against statements."""

Item = TypeVar("Item")


def parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield as many as go together at a time, in their order."""
    left = iter(items)
    while part := list(islice(left, MOST_TOGETHER)):
        yield part
