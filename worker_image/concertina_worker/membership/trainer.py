"""What does the training loop do for its membership?"""

from __future__ import annotations

from typing import Protocol

from concertina_worker.plan import GenerationPlan
from concertina_worker.state.training_state import TrainingState


class Trainer(Protocol):
    """Makes the steps, and holds what they change."""

    state: TrainingState

    def adopt(self, plan: GenerationPlan) -> None:
        """A generation begins: take its batch."""

    def begin(self) -> None:
        """Have a state: of the newest checkpoint, of where the job starts from, or a fresh one."""

    def furthest_step(self) -> int:
        """The furthest step that anybody is known to have made."""

    def write_checkpoint(self) -> None:
        """Returns when it is on disk."""

    def write_missing_checkpoint(self) -> None:
        """The same, unless somebody has kept this step."""
