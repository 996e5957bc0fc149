"""How are samples that a script draws at random counted? As many as its steps use, in order.

A sample is drawn with generators that are seeded with its number (see `randomness`): so it is the
same on whichever worker, and after a restart. Nothing is kept for samples that are yet to come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import Dataset


class DrawnSamples(Dataset[Any]):
    """A number of samples, each of which is what `draw` returns."""

    def __init__(self, draw: Callable[[], Any], count: int) -> None:
        self._draw = draw
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self._draw()
