"""Is state on its way from or to this worker? The source sends, joiners receive, others do not."""

from __future__ import annotations

from concertina_worker.collective.group import GroupLostError
from concertina_worker.state.handover import Handover


class Handovers:
    """One at a time at most."""

    def __init__(self) -> None:
        self.transfer_seconds = 0.0  # for which state was sent or received in this generation
        self._handover: Handover | None = None

    def begin(self, handover: Handover) -> None:
        """State has begun to travel."""
        self._handover = handover

    @property
    def is_under_way(self) -> bool:
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
        except GroupLostError:
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
        self.forget()

    def forget(self) -> None:
        self._handover = None
