"""Which moves of running jobs pay for themselves?

Two kinds. A job that stands on more nodes than it needs is *gathered* on one, when it saves more
time until its end than the move costs. And workers make *room* for a waiting job of which enough
GPUs are free, but not together, when its early start is worth more than their stalls. Both are
counted in GPU-seconds, so that large and small jobs compare:

    gain of gathering  = (remaining / speed now - remaining / speed on one node) * GPUs
    gain of room       = min(run time of the waiting job, time until a job ends by itself) * GPUs
    cost of a move     = stall of the moved job * its GPUs

A move is made when its gain is more than `MARGIN` times its cost. None is undone by the next plan:
a gathered job is no longer scattered, and nobody leaves a place without one of these gains.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.allocation.split import is_cooling
from autoscaler.planning.demand.change_cost import MIN_GAIN
from autoscaler.planning.placement.fragmentation import MoveBalance
from autoscaler.planning.placement.room import Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autoscaler.planning.demand import Demand, Size

MARGIN: Final = 2.0  # guessed: predictions may be wrong by a factor; more makes moves rarer
MOST_GATHERED: Final = 3  # guessed: per plan, so that a pool is never in motion as a whole
UNTIL_NEXT_END: Final = 60.0  # guessed seconds until a GPU becomes free, where no length is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """The demands, those that are not worth gathering sized as they stand; and the balances."""

    demands: tuple[Demand, ...]
    balances: Mapping[str, MoveBalance] = field(default_factory=dict)


def consolidate(room: Room, demands: Sequence[Demand], *, now: float) -> Consolidation:
    """Choose whom to gather: the few that gain most, each where a node has room for it now.

    `room` is what is free beside all jobs where they stand.
    """
    scattered = [demand for demand in demands if demand.is_scattered]
    if not scattered:
        return Consolidation(demands=tuple(demands))
    balances = {d.job.job_id: balance for d in scattered if (balance := _gathering(d, now))}
    room = room.copy()
    chosen: dict[str, MoveBalance] = {}
    for demand in sorted(scattered, key=lambda d: _least_net_gain(d, balances)):
        balance = balances.get(demand.job.job_id)
        if balance and len(chosen) < MOST_GATHERED and _reserve(room, demand):
            chosen[demand.job.job_id] = balance
    stays = {demand.job.job_id for demand in scattered} - chosen.keys()
    return Consolidation(
        demands=tuple(_as_it_stands(d) if d.job.job_id in stays else d for d in demands),
        balances=chosen,
    )


def room_balance(
    waiting: Demand, moved: Iterable[Demand], others: Iterable[Demand], *, now: float
) -> MoveBalance:
    """Return what the moves bring to the waiting job, and cost, all together."""
    ends = (_seconds_left(other, now) for other in others if other.is_active)
    lasts = min((end for end in ends if end is not None), default=UNTIL_NEXT_END)
    runs = waiting.remaining_seconds
    return MoveBalance(
        gain_gpu_seconds=waiting.smallest_gpus * (lasts if runs is None else min(lasts, runs)),
        cost_gpu_seconds=sum(map(move_cost, moved)),
        for_job=waiting.job.job_id,
    )


def pays(gain: float, cost: float) -> bool:
    return gain > MARGIN * cost


def may_be_moved(demand: Demand, now: float) -> bool:
    """Runs, can be changed, and was not changed a short while ago."""
    return demand.held > 0 and not demand.is_pinned and not is_cooling(demand, now)


def _gathering(demand: Demand, now: float) -> MoveBalance | None:
    present, together = demand.present, _at_present_workers(demand)
    if present is None or together is None or not may_be_moved(demand, now):
        return None
    before, after = present.samples_per_second, together.samples_per_second
    if before <= 0 or after < (1 + MIN_GAIN) * before:
        return None
    remaining = _seconds_left(demand, now)
    if remaining is None:
        return None
    gain = remaining * (1 - before / after) * demand.held_gpus
    cost = move_cost(demand)
    return MoveBalance(gain_gpu_seconds=gain, cost_gpu_seconds=cost) if pays(gain, cost) else None


def _at_present_workers(demand: Demand) -> Size | None:
    return next((size for size in demand.sizes if size.workers == demand.held), None)


def _seconds_left(demand: Demand, now: float) -> float | None:
    """Predict at the present speed; a job of unknown length may run as long again as it ran."""
    job, present = demand.job, demand.present
    if job.remaining_samples is None:
        return None if job.started_at is None else max(now - job.started_at, 0.0)
    if present is None or present.samples_per_second <= 0:
        return None
    return job.remaining_samples / present.samples_per_second


def move_cost(demand: Demand) -> float:
    """GPU-seconds: all of a job's GPUs stand still, however few of its workers move."""
    return max(demand.job.stall_seconds, 0.0) * demand.held_gpus


def _least_net_gain(demand: Demand, balances: Mapping[str, MoveBalance]) -> tuple[float, str]:
    balance = balances.get(demand.job.job_id)
    net = balance.gain_gpu_seconds - balance.cost_gpu_seconds if balance else 0.0
    return (-net, demand.job.job_id)


def _reserve(room: Room, demand: Demand) -> bool:
    """Take a node's free GPUs for the whole job; its old ones stay taken until it has moved."""
    assert demand.allocation is not None  # noqa: S101 - it is scattered
    placement, gpus = dict(demand.allocation.workers_by_node), demand.job.gpus_per_worker
    missing = {node: demand.held - count for node, count in placement.items()}
    own = [node for node, lacking in missing.items() if room.free(node) >= lacking * gpus]
    target = min(own, key=lambda node: (missing[node], node), default=None)
    if target is None:
        target = next(room.tightest(demand.held_gpus), None)
    if target is None:
        return False
    room.take({target: missing.get(target, demand.held)}, gpus)
    return True


def _as_it_stands(demand: Demand) -> Demand:
    """The present number of workers predicted for several nodes, where it is going to stay."""
    return replace(
        demand,
        sizes=tuple(demand.across(s) if s.workers == demand.held else s for s in demand.sizes),
    )
