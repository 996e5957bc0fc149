"""Which size may a job try although its model expects nothing of it? One, and not soon.

What a model knows after measurements of one size only is half a guess: nobody has timed another
exchange of gradients, and the one time that was told may be wrong for good. By it a job might hold
that size for all its life. So one that has held it for a while, and was measured with no more
workers, may try twice as many as if nothing were known of them. What is measured there counts from
then on, so that no size is tried twice in this way.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.demand.curves import Size
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

PATIENCE_SECONDS: Final = 600.0
"""Guessed: what a trial costs is little beside what was trained by then; trades that against how
long a job may stand at a size that a wrong measurement keeps it at."""
_AT_MOST: Final = 2  # times the workers that were measured


def with_a_trial(
    sizes: tuple[Size, ...], present: Size | None, job: PlannedJob, now: float
) -> tuple[Size, ...]:
    """The sizes, where one that is due for a trial is as fast as nobody knows better."""
    if present is None or not _is_due(present, job, now):
        return sizes
    at_most = _AT_MOST * present.workers
    place = sum(size.workers <= at_most for size in sizes) - 1
    if place < 0 or sizes[place].workers <= present.workers:
        return sizes
    here = [size.speedup for size in sizes if size.workers == present.workers]
    hoped = max([present.speedup, *here]) * math.sqrt(sizes[place].workers / present.workers)
    tried = replace(sizes[place], speedup=max(sizes[place].speedup, hoped))
    return (*sizes[:place], tried, *sizes[place + 1 :])


def _is_due(present: Size, job: PlannedJob, now: float) -> bool:
    if job.scaling is None or job.scaling.measured_workers != present.workers:
        return False
    began = [moment for moment in (job.started_at, job.last_rescaled_at) if moment is not None]
    return bool(began) and PATIENCE_SECONDS <= now - max(began) < math.inf
