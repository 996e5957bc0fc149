"""What may stand in a pool's table of all-reduce times? A list of points, each checked.

    [{"bytes": 100000000, "workers": 4, "crosses_nodes": false, "seconds": 0.012}, ...]

One point says: adding up a gradient of so many bytes took so many workers so long, with no job
running. Measured once per pool, for a few sizes from 1 MB to 1 GB and a few numbers of workers,
within a node and across nodes; the all_reduce_perf of NVIDIA's nccl-tests prints such times.
"""

from __future__ import annotations

import math
from typing import Final

from django.core.exceptions import ValidationError

MOST_POINTS: Final = 1000
_FIELDS: Final = {"bytes", "workers", "crosses_nodes", "seconds"}


def validate_all_reduce(table: object) -> None:
    """Refuse a table the planner could not read, naming the first point that is wrong."""
    if not isinstance(table, list) or len(table) > MOST_POINTS:
        raise ValidationError(f"Give a list of at most {MOST_POINTS} points.")
    for number, point in enumerate(table, 1):
        problem = _problem(point)
        if problem:
            raise ValidationError(f"Point {number} {problem}.")


def _problem(point: object) -> str | None:
    if not isinstance(point, dict) or set(point) != _FIELDS:
        return f"must have exactly the fields {', '.join(sorted(_FIELDS))}"
    if not _is_whole(point["bytes"], at_least=1):
        return "needs bytes, a whole number above 0"
    if not _is_whole(point["workers"], at_least=2):
        return "needs workers, a whole number of at least 2"
    if not isinstance(point["crosses_nodes"], bool):
        return "needs crosses_nodes, true or false"
    seconds = point["seconds"]
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not math.isfinite(seconds) or seconds <= 0:
        return "needs seconds, a number above 0"
    return None


def _is_whole(value: object, *, at_least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least
