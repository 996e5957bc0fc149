"""Who writes which checkpoint when? The main worker, every so often, between two steps."""

from __future__ import annotations

from typing import Any

from concertina_worker.environment import CheckpointRules
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import Membership
from concertina_worker.state.checkpoints.checkpoint import CheckpointWriter
from concertina_worker.state.checkpoints.furthest_step import FurthestStep
from concertina_worker.state.training_state import TrainingState
from concertina_worker.wire import FromWorker


class CheckpointDuty:
    """Keeps the state of one worker's training; without rules it keeps nothing."""

    def __init__(
        self,
        rules: CheckpointRules | None,
        membership: Membership | Alone,
        state: TrainingState,
    ) -> None:
        self._membership = membership
        self._state = state
        self._writer = CheckpointWriter(rules, self._tell) if rules else None
        self._furthest = FurthestStep(rules.folder) if rules else None

    def load_newest(self) -> dict[str, Any] | None:
        return self._writer.load_newest() if self._writer else None

    def furthest_step(self) -> int:
        """The furthest step that anybody made, even if they left nothing else behind."""
        return self._furthest.read() if self._furthest else 0

    def note_step(self) -> None:
        if self._furthest and self._membership.rank == 0:
            self._furthest.note(self._state.step)

    def write_now(self) -> None:
        """Write it, whoever this worker is; returns when it is on disk."""
        if self._writer:
            self._writer.write_now(self._state.step, self._state.to_checkpoint())

    def write_if_missing(self) -> None:
        """Write a checkpoint unless somebody has kept this step."""
        if self._writer and not self._writer.has(self._state.step):
            self.write_now()

    def write_if_due(self) -> None:
        """Write a checkpoint in the background, if it is due."""
        if self._writer and self._writer.is_due and self._membership.rank == 0:
            self._writer.write_in_background(self._state.step, self._state.to_checkpoint())

    def _tell(self, step: int) -> None:
        self._membership.tell(FromWorker.CHECKPOINTED, step=step)
