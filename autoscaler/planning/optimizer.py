"""Which split of a pool's GPUs among the admitted jobs is worth most?

A multiple-choice knapsack: every job takes exactly one of its options (GPUs, value), all together
at most the pool's GPUs, every team between its bounds. Solved exactly by the recurrence of
*Effective Elastic Scaling of Deep Learning Workloads*,

    P(j, k) = max over the options (g, v) of job j of  v + P(j-1, k-g)        -inf: impossible

once per team, over the team's jobs, which gives the best value for every exact number of GPUs the
team may hold; and once more over the teams, where "g GPUs for this team" is an option like any
other. Teams partition the jobs, so the result is exact with the bounds inside the optimisation.
Values may be any finite numbers and need be neither concave nor rising.

Cost: jobs x options x GPUs + teams x GPUs^2 elementary operations, in numpy.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]
    Picks = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A number of GPUs a job could take, and what that is worth."""

    gpus: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An admitted job: it takes exactly one of its options."""

    job_id: str
    team: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Fewest and most GPUs a team's jobs may take together. `most` None: no bound."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """An optimal split with its certificate.

    `value` is added up again from the chosen options, `upper_bound` is what the recurrence says no
    split can exceed; `gap` is their difference, 0 up to rounding. `price` is what one more GPU in
    the pool would add.
    """

    chosen: tuple[int, ...]  # index into each claim's options, in the order of the claims
    value: float
    upper_bound: float
    gap: float
    price: float
    gpus_used: int


def solve(
    claims: Sequence[Claim], *, gpus: int, bounds: Mapping[str, Bounds] | None = None
) -> Solution | None:
    """An optimal split of at most `gpus`, or None when the claims cannot all be met."""
    width = gpus + 2  # one GPU more than there is: its value is the price
    curves = _team_curves(claims, width, bounds or {})
    best, picks = _choose_each([curve.offered for curve in curves], width)
    if not np.isfinite(best[: gpus + 1]).any():
        return None
    used = int(np.argmax(best[: gpus + 1]))  # the fewest GPUs among equals
    chosen = _trace(claims, curves, picks, used)
    value = sum(claim.options[i].value for claim, i in zip(claims, chosen, strict=True))
    bound = float(best[used])
    return Solution(
        chosen=chosen,
        value=value,
        upper_bound=max(bound, value),
        gap=_without_rounding(max(bound - value, 0.0), bound),
        price=max(float(best.max()) - bound, 0.0),
        gpus_used=used,
    )


def reachable_totals(claims: Iterable[Claim]) -> tuple[int, ...]:
    """Every number of GPUs these claims can take together, ascending (one bit per total)."""
    totals = 1
    for claim in claims:
        sums = 0
        for gpus in {option.gpus for option in claim.options}:
            sums |= totals << gpus
        totals = sums
    return tuple(total for total in range(totals.bit_length()) if totals >> total & 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TeamCurve:
    """A team as one job: what it may take within its bounds, and how its jobs then share it."""

    indices: list[int]  # of its claims
    picks: list[Picks]
    offered: list[Option]


def _team_curves(
    claims: Sequence[Claim], width: int, bounds: Mapping[str, Bounds]
) -> list[_TeamCurve]:
    teams: defaultdict[str, list[int]] = defaultdict(list)
    for index, claim in enumerate(claims):
        teams[claim.team].append(index)
    curves = []
    for team, indices in teams.items():
        table, picks = _choose_each([claims[index].options for index in indices], width)
        offered = _within(table, bounds.get(team, Bounds()))
        curves.append(_TeamCurve(indices=indices, picks=picks, offered=offered))
    return curves


def _choose_each(groups: Sequence[Sequence[Option]], width: int) -> tuple[Table, list[Picks]]:
    """The recurrence: best value by exact number of GPUs, and the pick that attains it."""
    best = np.full(width, -np.inf)
    best[0] = 0.0
    picks: list[Picks] = []
    for options in groups:
        rows = np.full((max(len(options), 1), width), -np.inf)
        for row, option in zip(rows, options, strict=False):
            if option.gpus < width:
                row[option.gpus :] = best[: width - option.gpus] + option.value
        pick = rows.argmax(axis=0).astype(np.int32)
        picks.append(pick)
        best = rows[pick, np.arange(width)]
    return best, picks


def _within(table: Table, bounds: Bounds) -> list[Option]:
    most = len(table) if bounds.most is None else bounds.most
    return [
        Option(gpus=gpus, value=float(table[gpus]))
        for gpus in np.flatnonzero(np.isfinite(table)).tolist()
        if bounds.least <= gpus <= most
    ]


def _trace(
    claims: Sequence[Claim], curves: Sequence[_TeamCurve], picks: Sequence[Picks], used: int
) -> tuple[int, ...]:
    """Walk both recurrences backwards from the optimum."""
    chosen = [0] * len(claims)
    for curve, pick in zip(reversed(curves), reversed(picks), strict=True):
        left = curve.offered[pick[used]].gpus
        used -= left
        for index, job_pick in zip(reversed(curve.indices), reversed(curve.picks), strict=True):
            chosen[index] = int(job_pick[left])
            left -= claims[index].options[chosen[index]].gpus
    return tuple(chosen)


def _without_rounding(gap: float, scale: float) -> float:
    return 0.0 if gap <= 1e-9 * max(abs(scale), 1.0) else gap
