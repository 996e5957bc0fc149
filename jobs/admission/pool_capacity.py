"""How large may a job be? This is what a submit has to know about pools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jobs.admission.disk_limits import DiskLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerMemory:
    """What a worker may have on the node where its share is smallest."""

    node: str
    gpus: int  # of the node's machine, of which the worker has some
    bytes_: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCapacity:
    """A pool as far as a job spec is concerned."""

    pool_id: int
    name: str
    gpus: int
    gpus_of_largest_node: int
    disk_limits: DiskLimits
    platform_image: str | None = None  # of workers whose job names none; None: they run no images
    worker_memory: Mapping[int, WorkerMemory] = field(default_factory=dict)
    """By GPUs of a worker: the most it gets on each node that has so many; empty: no cap known."""
    teams: Collection[str] | None = None  # whom it serves; None: all
    why_not_all: str = ""  # the reason, where it does not serve all


ReadPools = Callable[[], Sequence[PoolCapacity]]
