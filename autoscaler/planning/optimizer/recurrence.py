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
from autoscaler.planning.optimizer.window import EMPTY, Step, Window, extend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.optimizer.problem import Floats, Integers, Problem
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
    """A group solved: its window, and the steps that lead back to each member's choice."""

    window: Window
    steps: Sequence[Step]
    members: Sequence[Doubt | Table]

    @property
    def span(self) -> tuple[int, int]:
        lowest = self.window.lowest
        return lowest, lowest + len(self.window.losses) - 1

    def choose(self, deviation: int, chosen: Integers) -> None:
        """Walk backwards; write the option of every job in doubt into `chosen`."""
        for step, member in zip(reversed(self.steps), reversed(self.members), strict=True):
            pick = step.pick(deviation)
            deviation -= int(step.deviations[pick])
            if isinstance(member, Doubt):
                chosen[member.job] = member.options[pick]
            else:
                member.choose(int(step.deviations[pick]), chosen)


def doubts(problem: Problem, relaxation: Relaxation, options: Integers) -> list[Doubt]:
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
    problem: Problem, relaxation: Relaxation, in_doubt: Sequence[Doubt], budget: float
) -> Table | None:
    """The pool's table, its own slack not yet counted; None if all selections lose more."""
    members: defaultdict[int, list[Doubt | Table]] = defaultdict(list)
    for doubt in in_doubt:
        members[int(problem.groups[doubt.job])].append(doubt)
    room_below, room_above = problem.least - relaxation.totals, problem.most - relaxation.totals
    room_above[POOL] += 1  # one GPU more than there is: its value is the price
    for group in range(len(problem.parents) - 1, -1, -1):
        own, above = members[group], int(problem.parents[group])
        bounds = _reach(relaxation, group, (room_below[group], room_above[group]), budget)
        is_pressed = relaxation.multipliers[group] != 0
        if group != POOL and not is_pressed and _is_free(own, bounds):
            members[above] += own
            continue
        table = _solve(own, bounds, budget)
        if table is not None and group != POOL:
            table = _with_slack(table, relaxation, group, budget)
        if table is None:
            return None
        members[above].append(table)
    return table


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
    """Whether no choice of the members leaves the bounds."""
    spans = [member.span for member in members]
    lowest, highest = bounds
    return lowest <= sum(low for low, _ in spans) and sum(high for _, high in spans) <= highest


def _solve(
    members: Sequence[Doubt | Table], bounds: tuple[float, float], budget: float
) -> Table | None:
    """One member after the other; totals from which nobody could return into the bounds are out."""
    falls = sum(member.span[0] for member in members)  # of those still to choose
    rises = sum(member.span[1] for member in members)
    window, steps = EMPTY.within(bounds[0] - rises, bounds[1] - falls, budget), []
    for member in members:
        if window is None:
            return None
        low, high = member.span
        falls, rises = falls - low, rises - high
        window, step = extend(window, *_options(member))
        window = window.within(bounds[0] - rises, bounds[1] - falls, budget)
        steps.append(step)
    return Table(window=window, steps=steps, members=members) if window else None


def _options(member: Doubt | Table) -> tuple[Integers, Floats]:
    if isinstance(member, Doubt):
        return member.deviations, member.losses
    is_possible = np.isfinite(member.window.losses)
    return member.window.deviations[is_possible], member.window.losses[is_possible]


def _with_slack(table: Table, relaxation: Relaxation, group: int, budget: float) -> Table | None:
    """What the group leaves unused of a bound it pays for is a loss too."""
    unused = relaxation.targets[group] - relaxation.totals[group] - table.window.deviations
    losses = table.window.losses + relaxation.multipliers[group] * unused
    window = Window(lowest=table.window.lowest, losses=losses).within(-np.inf, np.inf, budget)
    return Table(window=window, steps=table.steps, members=table.members) if window else None
