"""What is printed of a row? Means over the workloads, and how far they are from the oracle's."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Figures = dict[str, float]  # of one replay, by the names of `Summary`

_HOUR: Final = 3600.0
HEADINGS: Final = (
    "row", "mean", "to the oracle", "p50", "p99", "makespan", "changes", "GPUs in use",
)  # fmt: skip


def cells(name: str, found: Sequence[Figures], oracle: Sequence[Figures] | None) -> tuple[str, ...]:
    """A line of the table. `oracle`: replays of the same workloads, in the same order."""

    def average(figure: str) -> float:
        return fmean(one[figure] for one in found)

    return (
        name,
        f"{average('mean_completion_seconds'):.0f} s",
        "" if oracle is None else difference(found, oracle),
        f"{average('p50_completion_seconds'):.0f} s",
        f"{average('p99_completion_seconds') / _HOUR:.1f} h",
        f"{average('makespan_seconds') / _HOUR:.1f} h",
        f"{average('rescales_per_job'):.1f}",
        f"{average('utilisation'):.0%}",
    )


def difference(found: Sequence[Figures], oracle: Sequence[Figures]) -> str:
    """How much longer the mean job takes, workload by workload: the mean, twice its error."""
    ratios = [
        one["mean_completion_seconds"] / best["mean_completion_seconds"] - 1
        for one, best in zip(found, oracle, strict=True)
    ]
    if len(ratios) == 1:
        return f"{ratios[0]:+.1%}"
    return f"{fmean(ratios):+.1%} ± {2 * stdev(ratios) / math.sqrt(len(ratios)):.1%}"


def line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def of(summary: Mapping[str, object]) -> Figures:
    """What of a summary is a number."""
    return {name: float(value) for name, value in summary.items() if isinstance(value, int | float)}
