"""How do samples of a data set become one micro-batch?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch.utils.data import TensorDataset, default_collate


class MapDataset(Protocol):
    """A data set with a length, whose samples are reached by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


Collate = Callable[[list[Any]], Any]


def fetch(dataset: MapDataset, indices: torch.Tensor, collate: Collate | None) -> Any:
    """The samples at these indices as the script expects them."""
    if isinstance(dataset, TensorDataset) and collate is None:
        return [tensor[indices] for tensor in dataset.tensors]
    return (collate or default_collate)(_samples(dataset, indices.tolist()))


def _samples(dataset: MapDataset, indices: Sequence[int]) -> list[Any]:
    many: Callable[[Sequence[int]], list[Any]] | None = getattr(dataset, "__getitems__", None)
    return many(indices) if many else [dataset[index] for index in indices]
