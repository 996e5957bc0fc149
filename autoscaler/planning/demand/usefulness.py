"""How many GPUs does a job have a use for? What makes it no faster is no demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.demand.change_cost import MIN_GAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.demand.curves import Size


def useful_size(sizes: Sequence[Size], *, gain: float = 1 + MIN_GAIN) -> Size:
    """The largest size of which each step up still multiplies the speed by `gain`.

    So whoever states a wider range than the job can use does not state a larger demand.
    """
    best = sizes[0]
    for size in sizes[1:]:
        if size.speedup >= gain * best.speedup:
            best = size
    return best
