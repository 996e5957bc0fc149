"""What would later schedulers do? Their published objectives, as policies of this planner.

Each policy asks for what its paper asks for. All of them get what this planner gives every policy:
the best batch for each size, exact optimisation, placement, and the cost of a change (`change
factor`). So they compare objectives, and are stronger opponents than the systems themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from autoscaler.planning.policies import BUILT_IN, Objective, Policy, Situation, Sizes, Values

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand, Size

HOUR: Final = 3600.0  # what a job of unknown length is taken to have left


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimus(Policy):
    """The sum of remaining times: *Optimus* (EuroSys 2018), which adds workers greedily for it."""

    name: ClassVar = "optimus"
    summary: ClassVar = "makes the sum of all remaining times small"

    def objective(self, situation: Situation) -> Objective:  # noqa: ARG002 - the same in all
        def values(demand: Demand, sizes: Sizes) -> Values:
            return -_remaining(demand) / sizes.speedups

        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerMean(Policy):
    """Pollux's fitness (OSDI 2021) with its p = -1: the harmonic mean of speed over a fair share's.

    speedup_j = S_j(k) / S_j(fair share);  the harmonic mean is largest where sum 1 / speedup_j is
    smallest, which is a sum over jobs.
    """

    name: ClassVar = "power_mean"
    summary: ClassVar = "makes the harmonic mean of speed-ups over equal shares large"

    def objective(self, situation: Situation) -> Objective:
        gpus = sum(node.gpus for node in situation.pool.nodes)
        share = max(gpus / len(situation.demands), 1.0)

        def values(_: Demand, sizes: Sizes) -> Values:
            fair = np.searchsorted(sizes.workers, share, side="right") - 1
            return np.asarray(-sizes.speedups[max(int(fair), 0)] / sizes.speedups)

        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class AfsL(Policy):
    """Elastic share with known lengths: *AFS-L* (NSDI 2021). GPU after GPU goes to a winner.

    Of a short job a and a long job b with R samples per second, b wins a GPU exactly if
    (R_b(k+1) - R_b(k)) / R_b(k+1)  >  (R_a(k+1) - R_a(k)) / R_a(k).
    """

    name: ClassVar = "afs_l"
    summary: ClassVar = "gives GPU after GPU to the winner of a contest between jobs"

    def objective(self, situation: Situation) -> Objective:
        gpus = sum(node.gpus for node in situation.pool.nodes)
        workers = contest(situation.demands, gpus)

        def values(demand: Demand, sizes: Sizes) -> Values:
            return np.asarray(-np.abs(sizes.workers - float(workers[demand.job.job_id])))

        return values


@dataclass(slots=True)
class _Contestant:
    demand: Demand
    left: float  # at the smallest size
    sizes: Sequence[Size]
    place: int = 0

    @property
    def price(self) -> int:
        """GPUs from its present size to the next."""
        steps = self.sizes[self.place + 1].workers - self.sizes[self.place].workers
        return steps * self.demand.job.gpus_per_worker

    @property
    def rates(self) -> tuple[float, float]:
        """Speed now, and with one GPU more on the way to its next size."""
        now, then = (self.sizes[self.place + step].speedup for step in (0, 1))
        return now, now + (then - now) / self.price

    @property
    def time_left(self) -> float:
        return self.left / max(self.rates[0], 1e-9)


def contest(demands: Sequence[Demand], gpus: int) -> Mapping[str, int]:
    """Workers by job id, when each GPU beyond the smallest sizes goes to the winner of all."""
    all_of_them = [_Contestant(d, _remaining(d), d.sizes) for d in demands]
    left = gpus - sum(one.demand.smallest_gpus for one in all_of_them if one.sizes)
    open_to = [one for one in all_of_them if len(one.sizes) > 1]
    while open_to := [one for one in open_to if one.price <= left and one.rates[1] > one.rates[0]]:
        winner = open_to[0]
        for other in open_to[1:]:
            winner = _winner(winner, other)
        left -= winner.price
        winner.place += 1
        if winner.place + 1 == len(winner.sizes):
            open_to.remove(winner)
    return {
        one.demand.job.job_id: one.sizes[one.place].workers if one.sizes else 0
        for one in all_of_them
    }


def _winner(one: _Contestant, other: _Contestant) -> _Contestant:
    short, long = (one, other) if one.time_left <= other.time_left else (other, one)
    (short_now, short_then), (long_now, long_then) = short.rates, long.rates
    is_long = (long_then - long_now) / long_then > (short_then - short_now) / short_now
    return long if is_long else short


def _remaining(demand: Demand) -> float:
    return HOUR if demand.remaining_seconds is None else max(demand.remaining_seconds, 1.0)


LATER: Final = (Optimus.name, AfsL.name, PowerMean.name)
ALL: Final = BUILT_IN.joined((Optimus, AfsL, PowerMean))
