"""All replays of a table, several at a time. Each has a process of its own: see `rules`."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from benchmarks.caution import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.caution.figures import Figures
    from benchmarks.caution.rows import Row


def replayed(
    rows: Sequence[Row], *, seeds: int, is_hot: bool, processes: int
) -> Mapping[Row, list[Figures]]:
    """Their figures by row, in the order of the seeds."""
    trials = list(product(rows, range(seeds)))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, max_tasks_per_child=1) as pool:
        done = list(pool.map(partial(_trial, is_hot=is_hot), trials))
    return {row: done[at * seeds : (at + 1) * seeds] for at, row in enumerate(rows)}


def _trial(trial: tuple[Row, int], *, is_hot: bool) -> Figures:
    row, seed = trial
    return figures.of(asdict(row.replayed(seed, is_hot=is_hot)))
