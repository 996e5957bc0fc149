"""How large may a job be? What a submit must know of pools, handed in by whoever knows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCapacity:
    """A pool as far as a job spec is concerned."""

    pool_id: int
    name: str
    gpus: int
    gpus_of_largest_node: int
    runs_images: bool  # its workers are containers
    platform_image: str | None = None  # of those whose job names none


ReadPools = Callable[[], Sequence[PoolCapacity]]
