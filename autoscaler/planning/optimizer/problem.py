"""What is to be split among whom, within which bounds? The optimizer's question, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

POOL: Final = 0  # the group of all jobs, the root of the tree of teams
UNBOUNDED: Final = 1 << 40  # GPUs; more than anybody has, far from overflow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizeChoice:
    """An admitted job: it takes exactly one of its options, `gpus[i]` GPUs worth `values[i]`.

    `gpus` ascend, from 0 on. Values may be any finite numbers, in any order: a job may have holes
    in its sizes, need 2 GPUs at least, or be worth less with more of them.
    """

    job_id: str
    team: str
    gpus: Sequence[int] | Integers
    values: Sequence[float] | Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Fewest and most GPUs a team's jobs, and those of its sub-teams, may take together."""

    least: int = 0
    most: int | None = None  # None: no bound


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AllocationProblem:
    """Jobs with their options, in groups that form a tree. Whoever has arrays builds it directly.

    Options of all jobs stand one after another: job j owns `starts[j]` to `starts[j + 1]`. Group 0
    is the pool and has no parent (-1); every other group comes after its parent. A group's bounds
    hold for the sum over its own jobs and those of all groups below it.

    Raises:
        ValueError: the arrays do not describe such a problem. Bounds that cannot be met, or jobs
            without options, are no error: such a problem has no solution.
    """

    sizes: Integers  # of each option, in GPUs; ascending within a job
    values: Floats  # of each option
    starts: Integers  # one more than there are jobs
    groups: Integers  # of each job: the index of its group
    parents: Integers  # of each group
    least: Integers  # of each group, in GPUs
    most: Integers  # of each group, in GPUs; of the pool: all there are

    def __post_init__(self) -> None:
        complaint = next(self._complaints(), None)
        if complaint is not None:
            raise ValueError(complaint)

    @classmethod
    def of(
        cls,
        claims: Sequence[SizeChoice],
        *,
        gpus: int,
        bounds: Mapping[str, Bounds] | None = None,
        parents: Mapping[str, str | None] | None = None,
    ) -> Self:
        """Claims of teams, at most `gpus` in all; `parents` names the team above a team, if any."""
        bounds, parents = bounds or {}, parents or {}
        teams = _above_first([*(claim.team for claim in claims), *bounds], parents)
        index = {team: number for number, team in enumerate(teams, POOL + 1)}
        limits = [bounds.get(team, Bounds()) for team in teams]
        counts = [len(claim.gpus) for claim in claims]
        if counts != [len(claim.values) for claim in claims]:
            raise ValueError("every option must have a finite value")
        starts = np.cumsum([0, *counts], dtype=np.int64)
        options = int(starts[-1])
        sizes = chain.from_iterable(claim.gpus for claim in claims)
        values = chain.from_iterable(claim.values for claim in claims)
        return cls(
            sizes=np.fromiter(sizes, dtype=np.int64, count=options),
            values=np.fromiter(values, dtype=np.float64, count=options),
            starts=starts,
            groups=np.array([index[claim.team] for claim in claims], dtype=np.int64),
            parents=np.array(
                [-1, *(index[above] if (above := parents.get(team)) else POOL for team in teams)]
            ),
            least=np.array([0, *(limit.least for limit in limits)]),
            most=np.array(
                [gpus, *(UNBOUNDED if limit.most is None else limit.most for limit in limits)]
            ),
        )

    def _complaints(self) -> Iterator[str]:
        """Yield what is wrong with the arrays. Each check relies on those before it."""
        options, groups = len(self.sizes), len(self.parents)
        if self.starts[0] != 0 or self.starts[-1] != options or _falls(self.starts).any():
            yield "the options of all jobs must stand one after another"
        if len(self.values) != options or not np.isfinite(self.values).all():
            yield "every option must have a finite value"
        is_first = np.zeros(options + 1, dtype=bool)
        is_first[self.starts] = True
        if (self.sizes < 0).any() or (_falls(self.sizes) & ~is_first[1:-1]).any():
            yield "the options of a job must ascend in GPUs, from 0 on"
        if len(self.groups) != self.jobs or not _are_within(self.groups, groups):
            yield "every job must belong to a group"
        if self.parents[0] != -1 or not _are_within(self.parents[1:], np.arange(1, groups)):
            yield "every group but the first must come after its parent"
        if len(self.least) != groups or len(self.most) != groups:
            yield "every group must have bounds"

    @property
    def jobs(self) -> int:
        return len(self.starts) - 1

    @property
    def gpus(self) -> int:
        """The number of GPUs in the pool."""
        return int(self.most[POOL])


def _falls(numbers: Integers) -> Booleans:
    return np.asarray(numbers[1:] < numbers[:-1])


def _are_within(numbers: Integers, ends: int | Integers) -> bool:
    return bool(((numbers >= 0) & (numbers < ends)).all())


def _above_first(named: Iterable[str], parents: Mapping[str, str | None]) -> list[str]:
    """The teams named and all above them, every team after its parent."""
    ordered: dict[str, None] = {}
    for team in named:
        path: list[str] = []
        above: str | None = team
        while above is not None and above not in ordered:
            if above in path:
                raise ValueError(f"team {above!r} is above itself")
            path.append(above)
            above = parents.get(above)
        ordered |= dict.fromkeys(reversed(path))
    return list(ordered)
