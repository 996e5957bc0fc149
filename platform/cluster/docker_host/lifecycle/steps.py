"""What is to be done next for a process, given how it is and what is wished of it?

Pure but for `look_at`, which reads, so that whoever looks decides the same. How a process is
follows from Docker's word for its container and from its record, which also holds what is wished.
Steps are taken in their order, all but STOP under the record's lock; whoever dies between two
leaves what the next look goes on from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cluster.docker_host.container.observing import ENDED, RUNNING
from cluster.docker_host.record.records import ContainerRecord


class ContainerState(StrEnum):
    """How a process is."""

    UNKNOWN = "unknown"  # neither a container nor a record
    PREPARING = "preparing"  # somebody makes or removes its container, and holds its lock
    LEFT = "left"  # a record alone: whoever prepared it died, or somebody removed its container
    REFUSED = "refused"  # a record that says why it never ran
    MADE = "made"  # a container that was never started, and nobody is at it
    RUNNING = "running"
    EXITED = "exited"
    GOING = "going"  # Docker is removing its container


class WantedState(StrEnum):
    """What is wanted of a process."""

    RUN = "run"  # by who holds its lock
    KEEP = "keep"  # nothing but to know how it is
    END = "end"  # within its grace period
    FORGET = "forget"  # for good: nobody asks for it any more


class LifecycleStep(StrEnum):
    """What is to be done."""

    MAKE = "make"  # its container, once its image is there
    START = "start"
    STOP = "stop"  # have its daemon end it in time, or kill it
    FORGET = "forget"  # write down that it is going: what is removed in part is not started
    DISCARD = "discard"  # its scratch folder
    COPY_LOG = "copy_log"  # to its end
    REMOVE = "remove"  # its container, if it has one
    DROP = "drop"  # its record, once nothing else is left


_REMOVAL: Final = (
    LifecycleStep.FORGET,
    LifecycleStep.DISCARD,
    LifecycleStep.REMOVE,
    LifecycleStep.DROP,
)
_UNLESS_RUN: Final = (WantedState.KEEP, WantedState.END, WantedState.FORGET)

STEPS: Final[Mapping[ContainerState, Mapping[WantedState, tuple[LifecycleStep, ...]]]] = {
    ContainerState.UNKNOWN: {WantedState.RUN: (LifecycleStep.MAKE, LifecycleStep.START)},
    ContainerState.PREPARING: {},
    ContainerState.LEFT: {
        WantedState.RUN: (LifecycleStep.MAKE, LifecycleStep.START),
        **dict.fromkeys(_UNLESS_RUN, _REMOVAL),
    },
    ContainerState.REFUSED: {WantedState.FORGET: _REMOVAL},
    ContainerState.MADE: {
        WantedState.RUN: (LifecycleStep.START,),
        **dict.fromkeys(_UNLESS_RUN, _REMOVAL),
    },
    # One that was started while it was forgotten ends before it goes.
    ContainerState.RUNNING: {
        WantedState.END: (LifecycleStep.STOP,),
        WantedState.FORGET: (LifecycleStep.STOP,),
    },
    ContainerState.EXITED: {
        WantedState.FORGET: (
            LifecycleStep.FORGET,
            LifecycleStep.DISCARD,
            LifecycleStep.COPY_LOG,
            LifecycleStep.REMOVE,
            LifecycleStep.DROP,
        )
    },
    ContainerState.GOING: {WantedState.FORGET: _REMOVAL},
}
_LISTED: Final = frozenset(
    {ContainerState.PREPARING, ContainerState.REFUSED, ContainerState.EXITED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerObservation:
    """What was found out about a process, at one moment."""

    status: str | None = None  # Docker's word for its container; None: it has none
    has_record: bool = True
    has_ended: bool = False  # on record: without ever having run
    is_held: bool = False  # by somebody else
    is_launched: bool = False  # by who looks
    is_to_end: bool = False
    is_forgotten: bool = False

    @property
    def state(self) -> ContainerState:
        if self.status in RUNNING:
            return ContainerState.RUNNING
        if self.status in ENDED:
            return ContainerState.EXITED
        if self.is_held:
            return ContainerState.PREPARING
        if self.has_ended:
            return ContainerState.REFUSED
        if self.status is not None:
            return ContainerState.MADE if self.status == "created" else ContainerState.GOING
        return ContainerState.LEFT if self.has_record else ContainerState.UNKNOWN

    @property
    def wish(self) -> WantedState:
        """Return the strongest. Whoever launches it finds out by itself that it is to end."""
        if self.is_forgotten:
            return WantedState.FORGET
        if self.is_launched:
            return WantedState.RUN
        return WantedState.END if self.is_to_end else WantedState.KEEP

    @property
    def steps(self) -> tuple[LifecycleStep, ...]:
        """Return what is to be done now, in this order; nothing: it is as wished, or goes on."""
        return STEPS[self.state].get(self.wish, ())

    @property
    def is_listed(self) -> bool:
        """Return whether people see it; one that runs is never hidden, whatever is wished."""
        is_of_interest = self.state in _LISTED and not self.is_forgotten
        return is_of_interest or self.state is ContainerState.RUNNING


def look_at(record: ContainerRecord, status: str | None = None) -> ContainerObservation:
    """Read what the record tells beside Docker's word: all but who is at it."""
    return ContainerObservation(
        status=status,
        has_record=record.folder.exists(),
        has_ended=record.has_ended,
        is_to_end=record.kill_at() is not None,
        is_forgotten=record.is_forgotten,
    )
