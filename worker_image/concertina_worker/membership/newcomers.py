"""Which members of a generation do not compute yet, and is their state still on its way?

As far as one worker takes part: the source sends, joiners receive, all others only know of it.
"""

from __future__ import annotations

from concertina_worker.plan import Plan
from concertina_worker.state.handover import Handover


class Newcomers:
    """The joiners of the running generation, until they have the state."""

    def __init__(self) -> None:
        self.are_waited_for = False  # they do not compute
        self.transfer_seconds = 0.0  # for which state was sent or received in this generation
        self._handover: Handover | None = None

    def expect(self, plan: Plan) -> None:
        """A generation begins."""
        self.are_waited_for = plan.stayers != plan.members
        self.transfer_seconds = 0.0

    def hand_over(self, handover: Handover) -> None:
        """State has begun to travel from or to this worker."""
        self._handover = handover

    @property
    def is_on_its_way(self) -> bool:
        """State from or to this worker."""
        return self._handover is not None

    @property
    def has_arrived(self) -> bool:
        return self._handover is None or self._handover.has_all

    def go_on(self) -> None:
        """State does not change for a while."""
        if self._handover is not None:
            self._handover.go_on()

    def stop(self) -> bool:
        """State is about to change; False when it cannot, because some of it was lost."""
        if self._handover is None:
            return True
        try:
            is_over = self._handover.stop()
        except RuntimeError:
            return False
        self.transfer_seconds = self._handover.seconds
        if is_over:
            self._handover.log()
            self._handover = None
        return True

    def give_up(self) -> None:
        """The group is cut; returns when nothing writes into the state any more."""
        if self._handover is not None:
            self._handover.await_end()
        self._handover = None
        self.are_waited_for = False
