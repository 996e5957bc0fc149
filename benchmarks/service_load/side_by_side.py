"""Is this checkout better than another? Both are measured in turns, each by its own benchmark."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from autoscaler.plots.units import significant
from benchmarks.service_load.goals import GOALS, Goal
from benchmarks.service_load.measurement import Measurement


def compare(
    checkouts: tuple[Path, Path],
    sizes: Sequence[int],
    *,
    how: tuple[str, ...],
    rounds: int,
    say: Callable[[str], None],
) -> Iterator[str]:
    """Yield a table for each number of jobs: medians of the turns of this one, then the other."""
    for jobs in sizes:
        measured: tuple[list[Measurement], list[Measurement]] = ([], [])
        for turn in range(rounds):
            for place, checkout in zip(measured, checkouts, strict=True):
                say(f"{jobs} jobs, turn {turn + 1} of {rounds}: {checkout}")
                place.append(_measured_by(checkout, jobs, how))
        yield from ("", f"**{jobs} jobs**", "", "| what | this | other |", "|---|---|---|")
        for goal in GOALS:
            this, other = (_median(goal, place) for place in measured)
            yield f"| {goal.what} | {this} | {other} |"


def _measured_by(checkout: Path, jobs: int, how: tuple[str, ...]) -> Measurement:
    ran = subprocess.run(
        (
            *(str(checkout / ".venv/bin/python"), "-P", "-m", "benchmarks.service_load", "--json"),
            *("--jobs", str(jobs), *how),
        ),
        cwd=checkout,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Measurement.of(json.loads(ran.stdout))


def _median(goal: Goal, measured: Sequence[Measurement]) -> str:
    values = [value for one in measured if (value := goal.value(one)) is not None]
    return f"{significant(median(values))} {goal.unit}".strip() if values else "–"  # noqa: RUF001
