"""Who writes which checkpoint when? The main worker, every so often, between two steps.

And, where `keep_best` asks for it, after the step behind which a value was logged that is among the
best: a checkpoint of another step would not be the state that was measured.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from concertina_worker.checkpoint_files import (
    LONGEST_NAME,
    MOST_VALUES,
    CheckpointDescription,
    Value,
)
from concertina_worker.environment import CheckpointRules, JobStart
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.process import background
from concertina_worker.state.checkpoints import in_parts, starting
from concertina_worker.state.checkpoints.furthest_step import FurthestStep
from concertina_worker.state.checkpoints.writer import CheckpointWriter
from concertina_worker.state.parts import HeldParts, Parts
from concertina_worker.state.training_state import TrainingState
from concertina_worker.wire import FromWorker

_log = logging.getLogger(__name__)


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
        self._rules = rules
        self._thread: threading.Thread | None = None  # that writes a part
        self._written = (0, -1)  # the meeting and step of which this worker wrote its part
        self._writer = CheckpointWriter(rules, self._tell) if rules else None
        self._furthest = FurthestStep(rules.folder) if rules else None
        self._values: dict[str, Value] = {}  # the newest of each name
        self._best_step: int | None = None  # behind which one of the best values was logged

    def begin(self) -> None:
        """Have a state: of the newest checkpoint, of where the job starts from, or a fresh one."""
        if self._state.parts is not None:
            self._begin_in_parts(self._state.parts)
            return
        checkpoint = self._writer.load_newest() if self._writer else None
        if checkpoint is not None:
            self._state.load_checkpoint(checkpoint)
        elif self._start is not None:
            starting.begin(self._state, self._start.folder, skip=self._start.skip)
        else:
            self._state.begin_afresh()

    def _begin_in_parts(self, parts: Parts) -> None:
        """Say from where each worker is to read its rows; have all the rest."""
        self._await_writing()  # or it might remove what others are about to read
        parts.kept = None
        newest = in_parts.load_newest(self._rules.folder) if self._rules else None
        if newest is not None:
            content, parts.kept = newest
            parts.take_small(content["small"])
            self._state.load_rest(content)
        elif self._start is not None:
            parts.kept = starting.rows_of(self._start.folder, skip=self._start.skip)

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
        """Write it, whoever this worker is; returns when it is on disk.

        In parts: when this worker's is; all must call it.
        """
        if self._state.parts is not None:
            self.write_parts()
            self._await_writing()
        elif self._writer:
            self._writer.write_now(self._state.to_checkpoint(), self._told())

    def write_if_missing(self) -> None:
        """Write a checkpoint unless somebody has kept this step."""
        is_whole = self._state.parts is None  # parts are of use when all write theirs
        if self._writer and is_whole and not self._writer.has(self._state.step):
            self.write_now()

    def write_if_due(self) -> None:
        """Write a checkpoint in the background, if it is due."""
        is_whole = self._state.parts is None
        if self._writer is None or self._membership.rank != 0 or not is_whole:
            return
        if self._writer.is_due or self._best_step == self._state.step:
            self._best_step = None
            self._writer.write_in_background(self._state.to_checkpoint(), self._told())

    # -- in parts ------------------------------------------------------------------------------

    def is_due(self) -> bool:
        """True if all are to write their parts, as far as the main worker is concerned."""
        return self._writer is not None and self._writer.is_due and not self._is_writing

    def write_parts(self) -> None:
        """Write this worker's part in the background, unless it has written it."""
        parts, rules = self._state.parts, self._rules
        if parts is None:
            return
        parts.is_new = False
        now = (parts.meetings, self._state.step)  # after a loss steps are made again
        if rules is None or self._written == now:
            return
        self._await_writing()
        self._written = now
        if self._writer is not None:
            self._writer.begin_interval()
        rank, size = parts.place
        writer = in_parts.PartWriter(
            rules=rules,
            description=self._told(),
            generation=self._membership.generation,
            rank=rank,
            size=size,
        )
        meetings = parts.meetings
        arguments = (
            (writer, parts.hold(), self._state.rest_for_checkpoint()),
            lambda: self._membership.has_lost_a_member or parts.meetings != meetings,
        )
        self._thread = background.start("concertina_checkpoint", self._write_part, *arguments)

    def _write_part(
        self,
        what: tuple[in_parts.PartWriter, HeldParts, dict[str, Any]],
        is_lost: Callable[[], bool],
    ) -> None:
        writer, held, rest = what
        try:
            if writer.write(held, rest, is_lost):
                self._tell(writer.description.step)
        except (OSError, RuntimeError) as error:
            _log.warning(
                "The checkpoint of step %d could not be written, the training goes on without it:"
                " %s action=go_on",
                writer.description.step,
                error,
            )

    @property
    def _is_writing(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _await_writing(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None

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
