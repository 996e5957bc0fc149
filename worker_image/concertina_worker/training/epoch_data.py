"""From which data do the steps of one worker come, and does everybody use the same?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from concertina_worker.batch.memory_limit import smaller
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.samples.comparison import (
    OtherDataMismatchError,
    View,
    ViewComparison,
    check_resumed,
)
from concertina_worker.samples.cursor import Cursor
from concertina_worker.samples.loading.prefetch import Prefetch
from concertina_worker.samples.loading.requests import PlannedBatch
from concertina_worker.samples.share import REHEARSED_SAMPLES, BatchShare, nobodys
from concertina_worker.samples.source import SampleSource
from concertina_worker.state.parts import Parts
from concertina_worker.state.training_state import TrainingState


class EpochData:
    """The data of the epoch under way, loaded ahead as far as the step plan of the job says."""

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: WorkerMembership | Alone,
        state: TrainingState,
    ) -> None:
        self._environment = environment
        self._membership = membership
        self._state = state
        self._begun: Prefetch | None = None
        self._comparison: ViewComparison | None = None
        self._is_broken = False  # a worker was lost before the comparison began
        self.waited_seconds = 0.0  # for the others, before the step could begin
        rules = environment.batch
        self._batch_limit = rules["max_per_gpu"] if rules else None
        self._fewest = _fewest(state.model)

    @property
    def _prefetch(self) -> Prefetch:
        if self._begun is None:
            raise RuntimeError("no epoch has begun")
        return self._begun

    def limit_batch(self, samples: int | None) -> None:
        """Limit the micro-batches still to be asked for: more does not fit into memory at once."""
        self._batch_limit = smaller(self._batch_limit, samples)

    def warm_up(self, source: SampleSource) -> None:
        """Start what will load these samples, before it is known which are needed."""
        self._prefetch_of(source).warm_up()

    def planned_batch(self, step: int) -> PlannedBatch:
        """The batch of the step before which so many were made."""
        segment = self._membership.step_plan.at(step)
        limit = smaller(self._batch_limit, segment.batch_limit)
        division = segment.division(
            self._membership.worker,
            limit=limit,
            fewest=self._fewest,
            in_step=self._state.parts is not None,
        )
        return PlannedBatch(batch_size=segment.batch_size, division=division)

    def begin_epoch(self, source: SampleSource) -> None:
        """Raises DataMismatchError when the epoch began with other data."""
        prefetch, cursor = self._prefetch_of(source), self._state.cursor
        prefetch.begin_epoch(cursor.epoch, rank=self._membership.rank)
        resumes_at = self._state.stream_place.take(prefetch.stream)
        if prefetch.stream is not None:
            prefetch.stream.resumes_at = resumes_at
        if prefetch.length is not None and prefetch.fingerprint is not None:
            check_resumed(prefetch.length, cursor.length, "length")
            check_resumed(prefetch.fingerprint, cursor.fingerprint, "fingerprint")

    @property
    def is_used_up(self) -> bool:
        """All samples of the epoch are used."""
        return self._prefetch.has_ended_at(self._state.cursor.position)

    def begin_step(self) -> BatchShare | None:
        """Return what this worker computes of the next batch; None at the end of the epoch.

        Blocks until the first micro-batch is loaded, and at the end of a stream until all have told
        whether they are there, too. Of a model in parts no pass is made before all have told:
        passes meet, and whoever sees other data may make more of them, or none.
        """
        position = self._state.cursor.position
        share = self._prefetch.begin_step(self._state.step, position)
        self._comparison, self._is_broken, self.waited_seconds = None, False, 0.0
        if self._prefetch.source.is_stream or (share is not None and position == 0):
            try:
                self._comparison = self._compare(share.batch.stop if share else position)
            except RuntimeError:
                self._is_broken = True
        if self._state.parts is not None:
            self._confirm_before_passes(self._state.parts)
        if share is None and self._prefetch.has_loaded and not self.is_confirmed():
            self._is_broken = True
            return nobodys(position)
        return share

    def _confirm_before_passes(self, parts: Parts) -> None:
        """Exchange nothing in this step unless all use the same data. Raises DataMismatchError."""
        began = time.monotonic()
        with parts.waiting():
            self._is_broken = not self.is_confirmed()
        self.waited_seconds = time.monotonic() - began
        if self._is_broken:
            parts.fail()

    def load(self, number: int) -> Any:
        """A micro-batch of the step; blocks until it is loaded."""
        return self._prefetch.load(number)

    def rehearsal(self) -> Any:
        """Some micro-batch, for a worker that got none in this epoch."""
        return self._prefetch.rehearsal()

    def is_confirmed(self) -> bool:
        """Check that all use the same data, after the exchange of a step or at the end of a stream.

        False when a worker was lost meanwhile, or must go because it sees other data.

        Raises:
            DataMismatchError: this worker does.
        """
        comparison, self._comparison = self._comparison, None
        if comparison is None:
            return not self._is_broken
        try:
            self._state.steps_ahead = comparison.steps_ahead()
        except (RuntimeError, OtherDataMismatchError):
            return False
        return True

    def after(self, batch: range) -> Cursor:
        """Return where the training stands once this batch is used."""
        prefetch = self._prefetch
        cursor = self._state.cursor.after(batch)
        return replace(cursor, length=prefetch.length, fingerprint=prefetch.fingerprint)

    @property
    def length(self) -> int | None:
        """Samples of this epoch; None in a stream that does not tell before it ends."""
        source = self._prefetch.source
        return source.length if source.is_stream else self._prefetch.length

    @property
    def drops_last(self) -> bool:
        """A last batch that is smaller than the others is left out."""
        return self._prefetch.source.drops_last

    def used_of(self, length: int, *, batch_size: int) -> int:
        """Return how many samples of an epoch go into steps."""
        return length - length % batch_size if self.drops_last else length

    @property
    def found_length(self) -> int | None:
        """The length of the data; that of a stream is known once it has ended."""
        return self._prefetch.length

    def part_of_epoch(self, position: int) -> float:
        """0 in a stream of which nobody knows the length."""
        return self._prefetch.part_of_epoch(position)

    def end_epoch(self) -> None:
        self._comparison = None
        if self._begun is not None:
            self._begun.end_epoch()

    def _prefetch_of(self, source: SampleSource) -> Prefetch:
        if self._begun is None or not self._begun.serves(source):
            self._begun = Prefetch(
                source, seed=self._environment.seed, planned_batch=self.planned_batch
            )
        return self._begun

    def _compare(self, batch_stop: int) -> ViewComparison:
        """Compare with the others' data where an epoch begins, and all along a stream."""
        view = View(
            length=self._prefetch.length,
            fingerprint=self._prefetch.fingerprint,
            batch_stop=batch_stop,
            steps_ahead=self._prefetch.steps_ahead,
        )
        return ViewComparison(
            view,
            rank=self._membership.rank,
            size=self._membership.size,
            exchange=self._membership.start_sum,
        )


def _fewest(model: torch.nn.Module) -> int:
    """Samples in a share: one cannot be normalised, as part of a batch that could be, alone."""
    is_normalising = any(isinstance(module, _BatchNorm) for module in model.modules())
    return REHEARSED_SAMPLES if is_normalising else 1
