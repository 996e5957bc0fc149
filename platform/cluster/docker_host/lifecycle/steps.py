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
from cluster.docker_host.record.records import Record


class State(StrEnum):
    """How a process is."""

    UNKNOWN = "unknown"  # neither a container nor a record
    PREPARING = "preparing"  # somebody makes or removes its container, and holds its lock
    LEFT = "left"  # a record alone: whoever prepared it died, or somebody removed its container
    REFUSED = "refused"  # a record that says why it never ran
    MADE = "made"  # a container that was never started, and nobody is at it
    RUNNING = "running"
    EXITED = "exited"
    GOING = "going"  # Docker is removing its container


class Wish(StrEnum):
    """What is wanted of a process."""

    RUN = "run"  # by who holds its lock
    KEEP = "keep"  # nothing but to know how it is
    END = "end"  # within its grace period
    FORGET = "forget"  # for good: nobody asks for it any more


class Step(StrEnum):
    """What is to be done."""

    MAKE = "make"  # its container, once its image is there
    START = "start"
    STOP = "stop"  # have its daemon end it in time, or kill it
    FORGET = "forget"  # write down that it is going: what is removed in part is not started
    DISCARD = "discard"  # its scratch folder
    COPY_LOG = "copy_log"  # to its end
    REMOVE = "remove"  # its container, if it has one
    DROP = "drop"  # its record, once nothing else is left


_REMOVAL: Final = (Step.FORGET, Step.DISCARD, Step.REMOVE, Step.DROP)
_UNLESS_RUN: Final = (Wish.KEEP, Wish.END, Wish.FORGET)

STEPS: Final[Mapping[State, Mapping[Wish, tuple[Step, ...]]]] = {
    State.UNKNOWN: {Wish.RUN: (Step.MAKE, Step.START)},
    State.PREPARING: {},
    State.LEFT: {Wish.RUN: (Step.MAKE, Step.START), **dict.fromkeys(_UNLESS_RUN, _REMOVAL)},
    State.REFUSED: {Wish.FORGET: _REMOVAL},
    State.MADE: {Wish.RUN: (Step.START,), **dict.fromkeys(_UNLESS_RUN, _REMOVAL)},
    # One that was started while it was forgotten ends before it goes.
    State.RUNNING: {Wish.END: (Step.STOP,), Wish.FORGET: (Step.STOP,)},
    State.EXITED: {Wish.FORGET: (Step.FORGET, Step.DISCARD, Step.COPY_LOG, Step.REMOVE, Step.DROP)},
    State.GOING: {Wish.FORGET: _REMOVAL},
}
_LISTED: Final = frozenset({State.PREPARING, State.REFUSED, State.EXITED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was found out about a process, at one moment."""

    status: str | None = None  # Docker's word for its container; None: it has none
    has_record: bool = True
    has_ended: bool = False  # on record: without ever having run
    is_held: bool = False  # by somebody else
    is_launched: bool = False  # by who looks
    is_to_end: bool = False
    is_forgotten: bool = False

    @property
    def state(self) -> State:
        if self.status in RUNNING:
            return State.RUNNING
        if self.status in ENDED:
            return State.EXITED
        if self.is_held:
            return State.PREPARING
        if self.has_ended:
            return State.REFUSED
        if self.status is not None:
            return State.MADE if self.status == "created" else State.GOING
        return State.LEFT if self.has_record else State.UNKNOWN

    @property
    def wish(self) -> Wish:
        """Return the strongest. Whoever launches it finds out by itself that it is to end."""
        if self.is_forgotten:
            return Wish.FORGET
        if self.is_launched:
            return Wish.RUN
        return Wish.END if self.is_to_end else Wish.KEEP

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return what is to be done now, in this order; nothing: it is as wished, or goes on."""
        return STEPS[self.state].get(self.wish, ())

    @property
    def is_listed(self) -> bool:
        """Return whether people see it; one that runs is never hidden, whatever is wished."""
        is_of_interest = self.state in _LISTED and not self.is_forgotten
        return is_of_interest or self.state is State.RUNNING


def look_at(record: Record, status: str | None = None) -> Look:
    """Read what the record tells beside Docker's word: all but who is at it."""
    return Look(
        status=status,
        has_record=record.folder.exists(),
        has_ended=record.has_ended,
        is_to_end=record.kill_at() is not None,
        is_forgotten=record.is_forgotten,
    )
