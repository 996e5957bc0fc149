"""Which selection of a few options in doubt loses least? Exact, with every group's bounds inside.

Each group is solved before its parent, in which it then takes part like a job: "deviate by so many
GPUs at this loss" is an option like any other. Groups whose bounds cannot be reached by the options
in doubt need no window of their own: their jobs count as their parent's.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.optimizer.problem import POOL
from autoscaler.planning.optimizer.window import EMPTY, Window, WindowStep, extend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.optimizer.problem import AllocationProblem, Floats, Integers
    from autoscaler.planning.optimizer.relaxation import Relaxation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Doubt:
    """A job with more than one option left; deviations are from its base, in GPUs, ascending."""

    job: int
    options: Integers
    deviations: Integers
    losses: Floats

    @property
    def span(self) -> tuple[int, int]:
        return int(self.deviations[0]), int(self.deviations[-1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A group solved: its window, and the steps that lead back to each member's choice.

    Options have been left out, so the window is complete only for selections that lose up to
    `limit`; it is None if no selection of these options does. Nothing loses less than `floor`.
    """

    group: int
    window: Window | None
    steps: Sequence[WindowStep]
    members: Sequence[Doubt | Table]
    limit: float
    floor: float

    @property
    def tables(self) -> list[Table]:
        return [member for member in self.members if isinstance(member, Table)]

    @property
    def span(self) -> tuple[float, float]:
        if self.window is None:
            return -np.inf, np.inf
        return self.window.lowest, self.window.lowest + len(self.window.losses) - 1

    def choose(self, deviation: int, chosen: Integers) -> None:
        """Walk backwards; write the option of every job in doubt into `chosen`."""
        for step, member in zip(reversed(self.steps), reversed(self.members), strict=True):
            pick = step.pick(deviation)
            deviation -= int(step.deviations[pick])
            if isinstance(member, Doubt):
                chosen[member.job] = member.options[pick]
            else:
                member.choose(int(step.deviations[pick]), chosen)


def doubts(problem: AllocationProblem, relaxation: Relaxation, options: Integers) -> list[Doubt]:
    """The jobs of these options, which ascend, each with its base among its options."""
    jobs = relaxation.jobs[options]
    options = np.union1d(options, relaxation.base[jobs])
    jobs = relaxation.jobs[options]
    deviations = problem.sizes[options] - problem.sizes[relaxation.base[jobs]]
    losses = relaxation.losses[options]
    bounds = [*np.flatnonzero(np.diff(jobs, prepend=-1)).tolist(), len(options)]
    return [
        Doubt(
            job=int(jobs[start]),
            options=options[start:end],
            deviations=deviations[start:end],
            losses=losses[start:end],
        )
        for start, end in pairwise(bounds)
    ]


def least_losses(
    problem: AllocationProblem, relaxation: Relaxation, in_doubt: Sequence[Doubt], left_out: Floats
) -> Table:
    """The pool's table, its own slack not yet counted.

    `left_out` is, for each group, the least loss of an option of its jobs that is not in doubt.
    """
    members: defaultdict[int, list[Doubt | Table]] = defaultdict(list)
    for doubt in in_doubt:
        members[int(problem.groups[doubt.job])].append(doubt)
    room_below, room_above = problem.least - relaxation.totals, problem.most - relaxation.totals
    room_above[POOL] += 1  # one GPU more than there is: its value is the price
    for group in range(len(problem.parents) - 1, -1, -1):
        own, above = members[group], int(problem.parents[group])
        limit = _limit(own, float(left_out[group])) + relaxation.rounding
        bounds = _reach(relaxation, group, (room_below[group], room_above[group]), limit)
        if group == POOL or relaxation.multipliers[group] != 0 or not _is_free(own, bounds):
            members[above].append(_table(relaxation, group, own, bounds, limit))
        else:
            members[above] += own
    table = members[-1][0]
    assert isinstance(table, Table)  # noqa: S101 - the pool is never free
    return table


def _limit(members: Sequence[Doubt | Table], left_out: float) -> float:
    """Return what a selection loses at least if it has an option or a share not looked at."""
    tables = [member for member in members if isinstance(member, Table)]
    floor = sum(table.floor for table in tables)
    if np.isinf(floor):
        return np.inf  # impossible whatever is looked at
    return min([left_out + floor, *(table.limit + floor - table.floor for table in tables)])


def _table(
    relaxation: Relaxation,
    group: int,
    members: Sequence[Doubt | Table],
    bounds: tuple[float, float],
    limit: float,
) -> Table:
    window, steps = _solve(members, bounds, limit)
    if window is not None and group != POOL:
        window = _with_slack(window, relaxation, group, limit)
    least = np.inf if window is None else float(window.losses.min())
    return Table(
        group=group,
        window=window,
        steps=steps,
        members=members,
        limit=limit,
        floor=min(limit, least),
    )


def _reach(
    relaxation: Relaxation, group: int, room: tuple[int, int], budget: float
) -> tuple[float, float]:
    """Least and most a group may deviate: by its bounds, and by what slack the budget pays for."""
    (lowest, highest), pressure = room, relaxation.multipliers[group]
    affordable = np.ceil(budget / abs(pressure)) + 1 if pressure else np.inf
    if pressure > 0:
        return max(lowest, highest - affordable), highest
    return lowest, min(highest, lowest + affordable)


def _is_free(members: Sequence[Doubt | Table], bounds: tuple[float, float]) -> bool:
    """True if no choice of the members leaves the bounds."""
    spans = [member.span for member in members]
    lowest, highest = bounds
    return lowest <= sum(low for low, _ in spans) and sum(high for _, high in spans) <= highest


def _solve(
    members: Sequence[Doubt | Table], bounds: tuple[float, float], budget: float
) -> tuple[Window | None, list[WindowStep]]:
    """One member after the other; totals from which nobody could return into the bounds are out."""
    steps: list[WindowStep] = []
    if any(isinstance(member, Table) and member.window is None for member in members):
        return None, steps
    falls = sum(member.span[0] for member in members)  # of those still to choose
    rises = sum(member.span[1] for member in members)
    window = EMPTY.within(bounds[0] - rises, bounds[1] - falls, budget)
    for member in members:
        if window is None:
            break
        low, high = member.span
        falls, rises = falls - low, rises - high
        window, step = extend(window, *_options(member))
        window = window.within(bounds[0] - rises, bounds[1] - falls, budget)
        steps.append(step)
    return window, steps


def _options(member: Doubt | Table) -> tuple[Integers, Floats]:
    if isinstance(member, Doubt):
        return member.deviations, member.losses
    window = member.window or EMPTY
    is_possible = np.isfinite(window.losses)
    return window.deviations[is_possible], window.losses[is_possible]


def _with_slack(window: Window, relaxation: Relaxation, group: int, budget: float) -> Window | None:
    """Add what the group leaves unused of a bound that it pays for to the losses."""
    unused = relaxation.targets[group] - relaxation.totals[group] - window.deviations
    losses = window.losses + relaxation.multipliers[group] * unused
    return Window(lowest=window.lowest, losses=losses).within(-np.inf, np.inf, budget)
