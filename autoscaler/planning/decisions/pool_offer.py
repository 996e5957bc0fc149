"""What does a pool offer to a job that may be in several, and what did it answer?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PoolAnswer(StrEnum):
    """What became of a job that asked one of its pools."""

    STARTS = "starts"
    OWED = "owed"  # it waits, and its team's guarantee there is being given back
    WAITS = "waits"
    REFUSED = "refused"  # it could never start there as it is, or the pool keeps no queue
    NOT_ASKED = "not_asked"  # another pool was worth more, and took it


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOffer:
    """What one of several pools is worth to a waiting job, and whether it is in that pool now.

    `workers` is what it can expect where all share alike; 0: the pool is full of smallest sizes.
    `speed` is how fast it would be with them, and `loss` how much slower the jobs there would be
    together: the price of its GPUs. A speed of 1 is that of a job's smallest size; of this job: in
    the slowest of its pools. What was measured in none of them is taken to be equal in all.
    """

    pool: str
    is_chosen: bool
    answer: PoolAnswer
    workers: int
    speed: float
    loss: float
    is_measured: bool
    dollars_per_gpu_hour: float

    @property
    def worth(self) -> float:
        return self.speed - self.loss
