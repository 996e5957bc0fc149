"""What is in the way where enough GPUs are free, but not together? The map of free GPUs."""

from __future__ import annotations

from dataclasses import dataclass

_NODES_KEPT = 32  # of a map; a longer one tells nobody more


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    """Workers that would have to move so that others fit."""

    job_id: str
    workers: int
    from_node: str
    to_node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragmentation:
    """A job needs `workers` of `gpus_per_worker` GPUs, each on one node, and the shape is missing.

    `free_by_node` has the nodes with most free GPUs first, and at most 32 of them; `gpus_free` and
    `nodes_free` count all. `relocations` would make room; empty where no few moves do.
    """

    workers: int
    gpus_per_worker: int
    gpus_free: int
    nodes_free: int
    free_by_node: tuple[tuple[str, int], ...]
    relocations: tuple[Relocation, ...] = ()

    @classmethod
    def of(
        cls,
        free_by_node: tuple[tuple[str, int], ...],
        *,
        workers: int,
        gpus_per_worker: int,
        relocations: tuple[Relocation, ...] = (),
    ) -> Fragmentation:
        return cls(
            workers=workers,
            gpus_per_worker=gpus_per_worker,
            gpus_free=sum(gpus for _, gpus in free_by_node),
            nodes_free=len(free_by_node),
            free_by_node=free_by_node[:_NODES_KEPT],
            relocations=relocations,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBalance:
    """What a move brings and costs, in GPU-seconds of the jobs concerned.

    Gain: running time that the moved job saves, or running time of the job that can start, times
    its GPUs. Cost: the moved job's stall times its GPUs. `for_job` is the job that can start; None
    where the moved job itself gets faster.
    """

    gain_gpu_seconds: float
    cost_gpu_seconds: float
    for_job: str | None = None
