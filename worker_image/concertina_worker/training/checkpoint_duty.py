"""Who writes which checkpoint when? The main worker, every so often, between two steps.

And, where `keep_best` asks for it, after the step behind which a value was logged that is among the
best: a checkpoint of another step would not be the state that was measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from concertina_worker.checkpoint_files import (
    LONGEST_NAME,
    MOST_VALUES,
    CheckpointDescription,
    Value,
)
from concertina_worker.environment import CheckpointRules, JobStart
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.state.checkpoints import starting
from concertina_worker.state.checkpoints.furthest_step import FurthestStep
from concertina_worker.state.checkpoints.writer import CheckpointWriter
from concertina_worker.state.training_state import TrainingState
from concertina_worker.wire import FromWorker


class CheckpointDuty:
    """Keeps the state of one worker's training; without rules it keeps nothing."""

    def __init__(
        self,
        rules: CheckpointRules | None,
        membership: WorkerMembership | Alone,
        state: TrainingState,
        *,
        start: JobStart | None = None,
    ) -> None:
        self._membership = membership
        self._state = state
        self._start = start
        self._writer = CheckpointWriter(rules, self._tell) if rules else None
        self._furthest = FurthestStep(rules.folder) if rules else None
        self._values: dict[str, Value] = {}  # the newest of each name
        self._best_step: int | None = None  # behind which one of the best values was logged

    def begin(self) -> None:
        """Have a state: of the newest checkpoint, of where the job starts from, or a fresh one."""
        checkpoint = self._writer.load_newest() if self._writer else None
        if checkpoint is not None:
            self._state.load_checkpoint(checkpoint)
        elif self._start is not None:
            starting.begin(self._state, self._start.folder, skip=self._start.skip)
        else:
            self._state.begin_afresh()

    def furthest_step(self) -> int:
        """The furthest step that anybody made, even if they left nothing else behind."""
        return self._furthest.read() if self._furthest else 0

    def note_step(self) -> None:
        if self._furthest and self._membership.rank == 0:
            self._furthest.note(self._state.step)

    def log(self, values: Mapping[str, float], *, step: int) -> None:
        """Values that the script logged behind this step, which may still be under way."""
        if self._writer is None:
            return
        for name, value in values.items():
            number = float(value)
            is_known = name in self._values or len(self._values) < MOST_VALUES
            if math.isfinite(number) and is_known and len(name) <= LONGEST_NAME:
                self._values[name] = Value(name=name, value=number, step=step)
                if self._membership.rank == 0 and self._writer.would_keep(name, number):
                    self._best_step = step

    def write_now(self) -> None:
        """Write it, whoever this worker is; returns when it is on disk."""
        if self._writer:
            self._writer.write_now(self._state.to_checkpoint(), self._told())

    def write_if_missing(self) -> None:
        """Write a checkpoint unless somebody has kept this step."""
        if self._writer and not self._writer.has(self._state.step):
            self.write_now()

    def write_if_due(self) -> None:
        """Write a checkpoint in the background, if it is due."""
        if self._writer is None or self._membership.rank != 0:
            return
        if self._writer.is_due or self._best_step == self._state.step:
            self._best_step = None
            self._writer.write_in_background(self._state.to_checkpoint(), self._told())

    def _told(self) -> CheckpointDescription:
        return CheckpointDescription(
            step=self._state.step,
            samples=self._state.samples,
            epoch=self._state.schedule.epochs,
            at=time.time(),
            values=tuple(one for one in self._values.values() if one.step <= self._state.step),
        )

    def _tell(self, step: int) -> None:
        self._membership.tell(FromWorker.CHECKPOINTED, step=step)
