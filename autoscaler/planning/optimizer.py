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
    teams = _claims_by_team(claims)
    tables = {
        team: _choose_each([claims[i].options for i in own], width) for team, own in teams.items()
    }
    offers = {team: _within(tables[team][0], (bounds or {}).get(team, Bounds())) for team in teams}
    best, team_picks = _choose_each([_as_options(offers[team]) for team in teams], width)
    if not np.isfinite(best[: gpus + 1]).any():
        return None
    used = int(np.argmax(best[: gpus + 1]))  # the fewest GPUs among equals
    chosen = _trace(claims, teams, tables, offers, team_picks, used)
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


def _claims_by_team(claims: Sequence[Claim]) -> dict[str, list[int]]:
    teams: defaultdict[str, list[int]] = defaultdict(list)
    for index, claim in enumerate(claims):
        teams[claim.team].append(index)
    return dict(teams)


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


def _within(table: Table, bounds: Bounds) -> Table:
    inside = np.full_like(table, -np.inf)
    most = len(table) - 1 if bounds.most is None else min(bounds.most, len(table) - 1)
    inside[bounds.least : most + 1] = table[bounds.least : most + 1]
    return inside


def _as_options(table: Table) -> list[Option]:
    return [Option(gpus=int(g), value=float(table[g])) for g in np.flatnonzero(np.isfinite(table))]


def _trace(
    claims: Sequence[Claim],
    teams: Mapping[str, list[int]],
    tables: Mapping[str, tuple[Table, list[Picks]]],
    offers: Mapping[str, Table],
    team_picks: list[Picks],
    used: int,
) -> tuple[int, ...]:
    """Walk both recurrences backwards from the optimum."""
    chosen = [0] * len(claims)
    for team, pick in zip(reversed(list(teams)), reversed(team_picks), strict=True):
        left = _as_options(offers[team])[pick[used]].gpus
        used -= left
        for index, job_pick in zip(reversed(teams[team]), reversed(tables[team][1]), strict=True):
            chosen[index] = int(job_pick[left])
            left -= claims[index].options[chosen[index]].gpus
    return tuple(chosen)


def _without_rounding(gap: float, scale: float) -> float:
    return 0.0 if gap <= 1e-9 * max(abs(scale), 1.0) else gap
