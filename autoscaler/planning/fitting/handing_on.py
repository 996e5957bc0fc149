"""What does a run hand on to the next run of the same training? What it knows of each size.

It measured some of it itself. The rest is what it began with, unless it found that to be wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTRADICTORY: Final = 1.5  # guessed: noise and busy neighbors explain less


class MeasuredStepTime(Protocol):
    """How long a step takes in one configuration."""

    @property
    def gpu_type(self) -> str: ...
    @property
    def workers(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def global_batch_size(self) -> int: ...
    @property
    def step_seconds(self) -> float: ...


M = TypeVar("M", bound=MeasuredStepTime)


def configuration(one: MeasuredStepTime) -> tuple[str, int, bool, int]:
    """Return what has to be equal for two measurements to say the same thing."""
    return one.gpu_type, one.workers, one.nodes > 1, one.global_batch_size


def handed_on(own: Iterable[M], before: Iterable[M]) -> list[M]:
    """Return one measurement for each configuration, the newest last, as in both arguments.

    own: what this run measured. before: what was handed on to it.
    """
    measured = {configuration(one): one for one in own}
    inherited = {configuration(one): one for one in before}
    ratios = (
        measured[at].step_seconds / inherited[at].step_seconds
        for at in measured.keys() & inherited.keys()
    )
    if any(not 1 / CONTRADICTORY <= ratio <= CONTRADICTORY for ratio in ratios):
        inherited = {}
    others = (one for at, one in inherited.items() if at not in measured)
    return [*others, *measured.values()]
