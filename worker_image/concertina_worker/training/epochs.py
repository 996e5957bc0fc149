"""In which order does a script go through epochs, steps and micro-batches?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.amp.grad_scaler import GradScaler

from concertina_worker.manual import Section
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.samples.share import BatchShare
from concertina_worker.samples.source import SampleSource
from concertina_worker.samples.step_plan import StepPlan
from concertina_worker.training.ending import TrainingEnd
from concertina_worker.training.loop import TrainingLoop
from concertina_worker.training.script_checks.loss_watch import LossWatch
from concertina_worker.training.script_checks.pitfalls import Pitfalls, ScriptError
from concertina_worker.training.script_checks.schedule_watch import ScheduleWatch, TrainingLength


class Epochs:
    """One script's training from its first epoch to its last."""

    def __init__(
        self,
        loop: TrainingLoop,
        membership: WorkerMembership | Alone,
        pitfalls: Pitfalls,
        ending: TrainingEnd,
    ) -> None:
        self.loop = loop
        self._membership = membership
        self._pitfalls = pitfalls
        self._ending = ending
        self._total: int | None = None
        self._has_used_up = False  # the epoch that the script is in
        self._schedule_watch = ScheduleWatch(pitfalls.warn)
        self._loss_watch = LossWatch(pitfalls.warn, lambda: self._loss_scale)
        ending.on_last_line = self._check_worth
        ending.what_is_left = self._what_is_left

    def left_of(self, total: int) -> Iterator[int]:
        """One after the other; this worker joins before the first."""
        if self._total is not None:
            raise ScriptError(
                "job.epochs was called a second time, but a job's training is over with the first."
                " Let one loop go through all of them, and begin another phase where its epoch"
                " comes: if epoch >= 5: …",
                Section.EPOCHS,
            )
        loop, self._total = self.loop, total
        if not self._ending.has_entered:
            self._membership.enter(loop)
            self._ending.begin()
            self._pitfalls.begin(lambda: self._membership.rank == 0)
        while not self._is_through(total):
            epoch = loop.state.cursor.epoch
            self._has_used_up = False
            yield epoch
            if self._membership.has_ended:
                self._pitfalls.refuse_to_stay()
            if self._schedule_watch.is_looking:
                self._schedule_watch.look(self._length, is_in_epoch=False)
            if loop.state.cursor.epoch == epoch:
                loop.count_epoch()
                loop.state.cursor = loop.state.cursor.next_epoch()
        self._ending.finish()

    def _is_through(self, total: int) -> bool:
        if self._ending.is_wanted or self.loop.rates.has_trained(total):
            self.loop.mend()
        return self._ending.is_wanted or self.loop.rates.has_trained(total)

    def micro_batches(self, source: SampleSource, own_batch_size: int | None) -> Iterator[Any]:
        """This worker's, of one epoch; `own_batch_size`: as far as the script names one."""
        loop = self.loop
        if not self._ending.has_entered:
            raise ScriptError(
                "Call job.batches inside `for epoch in job.epochs(…)`.", Section.BATCHES
            )
        if self._has_used_up:
            raise ScriptError(
                "job.batches was called again in an epoch whose samples are used: each is trained"
                " on once. Make it another epoch of job.epochs; for evaluation read the data as"
                " you like.",
                Section.BATCHES,
            )
        self._pitfalls.check_model(loop.state.model)
        self._settle_batch(source, own_batch_size)
        yielded, is_whole = 0, loop.state.cursor.position == 0
        loop.begin_epoch(source)
        self._schedule_watch.begin_epoch([*loop.state.extras.values()])
        self._tell_length()
        try:
            for share in self._shares():
                for number, positions in enumerate(share.micro_batches):
                    micro_batch = loop.load(share, number)
                    self._loss_watch.begin(len(positions))
                    yield micro_batch
                    self._loss_watch.end()
                    yielded += 1
                if not loop.close_step() and not self._scalers:
                    self._pitfalls.tell_no_step()
                if self._schedule_watch.is_looking:
                    self._schedule_watch.look(self._length, is_in_epoch=True)
            self._has_used_up = True
            loop.count_epoch()
            self._tell_length()
            if not yielded:
                yield loop.rehearse()
            elif is_whole:
                self._pitfalls.check_validation(loop.state.model, yielded)
        finally:
            self._loss_watch.end()
            loop.end_epoch()

    def _shares(self) -> Iterator[BatchShare]:
        """Yield the shares of one step after the other, until every member has made the last."""
        is_settled = False
        while not is_settled:
            while (share := self.loop.begin_step()) is not None:
                yield share
            is_settled = self.loop.settle()

    def _check_worth(self) -> None:
        """The script has come to its end, maybe before its `job.epochs` did."""
        if self._total is not None and self.loop.rates.falls_short(self._total):
            self._pitfalls.tell_early_end(self.loop.state.schedule.epochs, self._total)

    def _what_is_left(self) -> str:
        """Say where in its epochs the script is, as a sentence goes on; empty: behind the last.

        An epoch is behind it once its data are used, wherever the script went from there.
        """
        if self._total is None:
            return "before its epochs began"
        epoch, rates = self.loop.state.cursor.epoch, self.loop.rates
        if rates.has_trained(self._total) or (self._has_used_up and epoch + 1 >= self._total):
            return ""
        return f"{'after' if self._has_used_up else 'in'} epoch {epoch + 1} of {self._total}"

    def _settle_batch(self, source: SampleSource, own_size: int | None) -> None:
        if isinstance(self._membership, Alone):
            self.loop.use_batch(source.batch_size)
            self._membership.step_plan = StepPlan.steady(source.batch_size, self._membership.worker)
        else:
            self._pitfalls.check_process_group()
            self._pitfalls.tell_batch_size(own_size, self.loop.global_batch_size)

    def _tell_length(self) -> None:
        """Tell the length as soon as it is known: that of a stream when it has ended."""
        epoch_data, rates = self.loop.epoch_data, self.loop.rates
        if self._total is None:
            return
        if epoch_data.length is not None:
            used = epoch_data.used_of(epoch_data.length, batch_size=self.loop.global_batch_size)
            self._ending.progress.tell_length(rates.total_samples(self._total, used))
        elif epoch_data.found_length is not None:
            used = epoch_data.used_of(
                epoch_data.found_length, batch_size=self.loop.global_batch_size
            )
            self._ending.progress.tell_length(self._total * used)

    @property
    def _length(self) -> TrainingLength:
        length = self.loop.epoch_data.length
        steps = (
            None
            if length is None
            else self.loop.rates.steps_in(length, drops_last=self.loop.epoch_data.drops_last)
        )
        return TrainingLength(epochs=self._total or 0, steps_per_epoch=steps)

    @property
    def _scalers(self) -> list[GradScaler]:
        """The scalers, which skip steps whose gradients overflow."""
        extras = self.loop.state.extras.values()
        return [extra for extra in extras if isinstance(extra, GradScaler)]

    @property
    def _loss_scale(self) -> float:
        return max((scaler.get_scale() for scaler in self._scalers), default=1.0)
