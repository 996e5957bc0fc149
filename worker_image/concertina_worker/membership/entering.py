"""How does a worker get into a generation? In one of three ways.

- All are new, or survivors of a loss: they meet, and go on from the state of whoever is furthest.
- It joins others that train: when they have switched it gets the state from their source.
- It trains in the one before: it goes over at the moment agreed on, and the source sends its state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from concertina_worker.collective.group import Group, GroupLostError
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.coordinator_link.preparations import PreparedPlan
from concertina_worker.membership.presence import Presence
from concertina_worker.membership.trainer import Trainer
from concertina_worker.state.handover import Handover
from concertina_worker.state.recovery import RecoveredState, synchronise

HANDOVER_POLL_SECONDS: Final = 0.2


class Entrance:
    """The ways in of one worker."""

    def __init__(self, line: CoordinatorLine, presence: Presence) -> None:
        self._line = line
        self._presence = presence

    def enter(self, trainer: Trainer) -> None:
        """Wait until this worker is a member of a generation."""
        self._get_in(trainer, lambda prepared: prepared.group is not None)

    def recover(self, trainer: Trainer) -> None:
        """The same with the survivors of a loss; whoever is left out is told to end."""
        self._get_in(
            trainer, lambda prepared: prepared.plan.is_recovery and prepared.group is not None
        )

    def switch(self, group: Group, trainer: Trainer) -> None:
        """Go over from the generation before. Raises GroupLostError."""
        if parts := trainer.state.parts:
            if group.is_source:
                group.announce_handover()
            parts.move(group, trainer.state)
            self._install(group, trainer)
            self._presence.handovers.transfer_seconds = parts.seconds
            return
        self._install(group, trainer)
        if group.is_source:
            group.announce_handover()
            handover = Handover(group, trainer.state)
            handover.send()
            self._presence.handovers.begin(handover)

    def _get_in(self, trainer: Trainer, accept: Callable[[PreparedPlan], bool]) -> None:
        while self._presence.group is None:
            prepared = self._line.await_prepared(accept, newer_than=self._presence.tried)
            try:
                self._try(prepared.group, trainer)
            except GroupLostError:
                self._presence.break_off(because_of=prepared.plan)
            del prepared  # or its group would outlive a failure

    def _try(self, group: Group | None, trainer: Trainer) -> None:
        if group is None:
            return
        if group.plan.is_recovery:
            self._meet(group, trainer)
        else:
            self._join(group, trainer)

    def give_away(self, group: Group, trainer: Trainer) -> None:
        """Leave the rows of a sharded model to those who train on. Raises GroupLostError."""
        if parts := trainer.state.parts:
            parts.move(group, trainer.state)

    def _meet(self, group: Group, trainer: Trainer) -> None:
        if parts := trainer.state.parts:
            lost = parts.meet(group, trainer.state, trainer.begin, trainer.furthest_step)
            recovered = RecoveredState(copy_seconds=parts.seconds, lost_steps=lost)
        else:
            recovered = synchronise(group, trainer.state, trainer.begin, trainer.furthest_step)
        self._install(group, trainer, lost_steps=recovered.lost_steps)
        self._presence.handovers.transfer_seconds = recovered.copy_seconds

    def _join(self, group: Group, trainer: Trainer) -> None:
        if parts := trainer.state.parts:
            if self._is_awaited(group):
                parts.move(group, trainer.state)
                self._install(group, trainer)
                self._presence.handovers.transfer_seconds = parts.seconds
            return
        trainer.state.keep()
        if not self._is_awaited(group):
            return
        handover = Handover(group, trainer.state)
        handover.receive()
        self._install(group, trainer)
        self._presence.handovers.begin(handover)

    def _is_awaited(self, group: Group) -> bool:
        """Returns when the members have switched; False when they never will."""
        while not group.await_handover(seconds=HANDOVER_POLL_SECONDS):
            self._line.orders.heed_while_waiting()
            if self._line.preparations.is_given_up(group.plan):
                return False
        return True

    def _install(self, group: Group, trainer: Trainer, *, lost_steps: int = 0) -> None:
        self._presence.begin(group, step=trainer.state.step, lost_steps=lost_steps)
        trainer.adopt(group.plan)
