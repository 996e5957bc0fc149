"""Which rule of changes holds? The planner's own, with a part of it switched off.

The parts are switched off in the code of the process that asks for it, which is why each replay has
a process of its own.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from autoscaler.planning.allocation import size_values
from autoscaler.planning.demand import batch, change_cost
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.replay.measuring import Measuring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.snapshot.cluster_state import PlannedJob


class Rule(StrEnum):
    """What is different from the planner's own rule."""

    OURS = "ours"  # nothing
    NO_LEAST_GAIN = "no_least_gain"  # a change may bring as little as it likes
    NO_PRICE = "no_price"  # nor does it have to earn back its stall
    FIRST_TELLS_ALL = "first_tells_all"  # the first measurement of a job tells all of its speed


def _free(job: PlannedJob, now: float, *, seconds_left: float | None) -> float:  # noqa: ARG001 - the shape of `change_factor`
    return 1.0


def _all_of_it(measuring: Measuring) -> ScalingModel | None:
    """The truth, as soon as the job was measured anywhere."""
    found = measuring._found  # noqa: SLF001 - no planner gets to know this
    if not found:
        return None
    truth = ScalingModel(throughput=measuring.profile.model)
    return replace(
        truth,
        measured_workers=max(one.workers for one in found),
        measured_batch=max(one.global_batch_size for one in found),
    )


_LEAST_GAINS: Final = ((change_cost, "MIN_GAIN", 0.0), (batch, "MIN_BATCH_GAIN", 0.0))
_SWITCHED: Final[Mapping[Rule, Sequence[tuple[object, str, object]]]] = {
    Rule.OURS: (),
    Rule.NO_LEAST_GAIN: _LEAST_GAINS,
    Rule.NO_PRICE: (*_LEAST_GAINS, (size_values, "change_factor", _free)),
    Rule.FIRST_TELLS_ALL: ((Measuring, "_fitted", _all_of_it),),
}


def follow(rule: Rule) -> None:
    """Let the planner of this process follow it from now on."""
    for where, name, value in _SWITCHED[rule]:
        setattr(where, name, value)
