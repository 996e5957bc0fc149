"""What does one job want to place? So many workers, given where its workers stand now."""

from __future__ import annotations

from typing import NamedTuple

WorkersByNode = tuple[tuple[str, int], ...]


class Seats(NamedTuple):
    """What one job wants to place: it has `placement` now and should have `workers`.

    A pinned job stays where it is, even on a node that is being drained. One that `may_move`
    stands anew where that is better, although it keeps its size. A named tuple, because one is made
    for every job in every round of a plan.
    """

    job_id: str
    gpus_per_worker: int
    workers: int
    placement: WorkersByNode = ()
    is_pinned: bool = False
    may_move: bool = False

    @property
    def held(self) -> int:
        return sum([count for _, count in self.placement])

    @property
    def missing(self) -> int:
        return max(self.workers - self.held, 0)
