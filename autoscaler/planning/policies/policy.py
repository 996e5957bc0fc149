"""What may a policy decide? How far each job is restricted, and what every size is worth to it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool

NOT_WANTED: Final = -math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a policy sees of the pool: all admitted jobs at one moment, on the snapshot's clock."""

    demands: Sequence[Demand]
    pool: PlannedPool
    now: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sizes:
    """The sizes of one job as arrays of equal length, ascending in workers.

    `speedups` holds S(k) > 0 as the job would feel it: the present size at full speed, all others
    with what a change costs taken off. Sizes that may not be tried yet are included.
    """

    workers: NDArray[np.int_]
    speedups: NDArray[np.float64]


Values = NDArray[np.float64]
Objective = Callable[["Demand", Sizes], Values]
"""What each size is worth to one job; `NOT_WANTED` for those it is not to have."""


class Policy(ABC):
    """An objective: the planner maximises the sum of the values of all admitted jobs.

    A policy is a frozen dataclass whose fields, made by `option`, are what an admin may set. It
    keeps no state and reads no clock: everything it needs is in the snapshot. Guarantees, limits,
    priorities and deadlines hold under every policy.
    """

    name: ClassVar[str]
    summary: ClassVar[str]  # completes "The planner ..." for the admin who chooses

    def restrict(self, job: PlannedJob) -> PlannedJob:
        """The job as this policy lets it be: a narrower batch range, fewer sizes, a priority.

        Whatever is returned must lie within what the job itself allows. The smallest size left is
        the one admission reckons with.
        """
        return job

    @abstractmethod
    def objective(self, situation: Situation) -> Objective:
        """Return what sizes are worth, to be asked job by job.

        Values may have any unit and need be neither concave nor rising. Of a job to which no size
        that is possible at the moment is wanted, the planner chooses for itself.
        """


def up_to(values: Values, last: int) -> Values:
    """The values as far as index `last`; what lies beyond is not wanted."""
    return np.where(np.arange(len(values)) <= last, values, NOT_WANTED)
