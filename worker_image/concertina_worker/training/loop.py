"""What happens in one optimizer step of one worker? The order of things is here.

A step takes the next global batch at the cursor, computes this worker's share in micro-batches,
exchanges gradients, and commits. A step that loses a worker on its way is not committed: after
the recovery it is computed again, from the same cursor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from concertina_worker.batch.learning_rate import CustomScaling
from concertina_worker.batch.schedule import Schedule
from concertina_worker.data.share import Share
from concertina_worker.data.source import Source
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import Membership
from concertina_worker.plan import Plan
from concertina_worker.state.checkpoint import CheckpointWriter
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.audit import SampleAudit
from concertina_worker.training.blocks import (
    StepBlockError,
    StepInsideBlockError,
    held_back,
    several_passes,
)
from concertina_worker.training.gradients import Gradients
from concertina_worker.training.noise_meter import NoiseMeter
from concertina_worker.training.rates import Rates
from concertina_worker.training.reports import CommittedStep, StepClock
from concertina_worker.training.supply import Supply
from concertina_worker.wire import FromWorker


@dataclass(slots=True, kw_only=True)
class _Step:
    """The step under way."""

    share: Share
    began_at: float
    compute_seconds: float = 0.0  # of this worker alone
    is_last_micro_batch: bool = False
    is_exchanged: bool = False  # the exchange is over
    is_whole: bool = False  # and nobody was lost: `.grad` is the global gradient
    has_stepped: bool = False  # an optimizer
    learning_rate: float = 0.0  # that it stepped with


class TrainingLoop:
    """Makes steps; knows the script's objects and the worker's place among the others."""

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: Membership | Alone,
        state: TrainingState,
        on_commit: Callable[[CommittedStep, StepClock], None],
        lr_scaling: CustomScaling | None = None,
    ) -> None:
        self.state = state
        self.rates = Rates(environment.batch, lr_scaling, state)
        self.global_batch_size = 0
        self.samples_at_once = 0  # of the micro-batch computed now, or where the script broke off
        self.on_rescale: list[Callable[[], None]] = []
        self._noise = NoiseMeter(state, is_wanted=environment.batch is not None)
        self._environment = environment
        self._membership = membership
        self._on_commit = on_commit
        self._clock = StepClock()
        self._gradients = Gradients([*state.model.parameters()], self._on_complete_gradients)
        if isinstance(membership, Membership):
            self._gradients.touch()
        self._step: _Step | None = None
        self._is_in_epoch = False
        self._epoch = 0
        self._supply = Supply(environment, membership, state)
        rules = environment.checkpoints
        self._checkpoints = CheckpointWriter(rules, self._tell_checkpoint) if rules else None
        folder = environment.sample_audit_dir
        worker = environment.platform.worker_id if environment.platform else "alone"
        self._audit = SampleAudit(folder, worker) if folder else None

    # -- for the membership --------------------------------------------------------------------

    def adopt(self, plan: Plan) -> None:
        self.use_batch(plan.global_batch_size)
        self._clock.begin_generation()
        for callback in self.on_rescale:
            callback()

    def use_batch(self, size: int) -> None:
        """From the next step on for which nothing is loaded yet."""
        self.global_batch_size = size

    def limit_batch(self, samples: int) -> None:
        """More do not fit into this worker's memory at once."""
        self._supply.limit_batch(samples)

    def load_checkpoint(self) -> dict[str, Any] | None:
        return self._checkpoints.load_newest() if self._checkpoints else None

    def write_checkpoint(self) -> None:
        if self._checkpoints:
            self._checkpoints.write_now(self.state.step, self.state.to_checkpoint())

    # -- an epoch ------------------------------------------------------------------------------

    def warm_up(self, source: Source) -> None:
        """Start what will load these samples, before it is known which are needed."""
        self._supply.warm_up(source)

    def begin_epoch(self, source: Source) -> None:
        """Raises DataMismatchError when the epoch began with other data."""
        self._supply.begin_epoch(source)
        self._epoch = self.state.cursor.epoch
        if self.state.cursor.position == 0:
            self.state.schedule_at_epoch = self.state.schedule
        self._is_in_epoch = True
        self._clock.resume()

    def end_epoch(self) -> None:
        if self._step is not None and self._step.has_stepped:  # the script broke off
            self.close_step()
        if self._step is None:
            self._membership.settle(self)
        self._membership.rest()
        self._is_in_epoch = False
        self._step = None
        self._supply.end_epoch()
        self._gradients.end_steps()
        self._clock.pause()

    @property
    def is_catching_up(self) -> bool:
        """A recovery brought this worker into another epoch than the script is in.

        Into a later one, or back into an earlier one, where nobody is left who had come further.
        """
        return self.state.cursor.epoch != self._epoch

    # -- a step, in order ----------------------------------------------------------------------

    def begin_step(self) -> Share | None:
        """What to compute next; None at the end of the epoch.

        A worker without samples in this step, because the batch is small or its state is still on
        the way, rehearses: it gets a few that others compute, and its gradient goes nowhere. So
        the script's code runs in every step on every worker, and what it does to gradients,
        schedules and averages is the same everywhere.

        Switches, recoveries and checkpoints wait at the end of an epoch until the next one
        begins: the script's code between epochs runs as if nothing could happen there.
        """
        self._step = None
        self.samples_at_once = 0
        if self._supply.is_used_up:
            return None
        self._membership.turn(self)
        self._write_due_checkpoint()
        began_at = time.monotonic()
        if self.is_catching_up:
            return None
        share = self._supply.begin_step()
        if share is None:
            return None
        self._step = _Step(share=share, began_at=began_at)
        self.rates.use_batch(self._membership.course.at(self.state.step).batch_size)
        if self.state.trained is None:
            self.state.trained = self._gradients.trainable
        self._gradients.train(self.state.trained)
        self._gradients.begin_step(
            self._membership.start_sum,
            self._membership.offer,
            is_alone=self._membership.size == 1,
            measures_norms=self._noise.is_due(share, workers=self._membership.size),
        )
        return share

    def load(self, share: Share, number: int) -> Any:
        """One of its micro-batches, as the script expects it."""
        is_last = number == len(share.micro_batches) - 1
        if self._step is not None:
            self._step.is_last_micro_batch = is_last
        self._gradients.begin_micro_batch(weight=share.weight(number), is_last=is_last)
        self.samples_at_once = len(share.micro_batches[number])
        return self._supply.load(number)

    def rehearse(self) -> Any:
        """A micro-batch that goes nowhere: see `Job.batches`."""
        self._step = None
        self._gradients.end_steps()
        return self._supply.rehearsal()

    def several_backwards(self) -> AbstractContextManager[None]:
        """Around all backward passes of one micro-batch; see `blocks`."""
        if not self._is_in_epoch:
            raise StepBlockError
        return several_passes(self._gradients)

    def holding_back(self) -> AbstractContextManager[None]:
        """Around all backward passes of one micro-batch but the last."""
        return held_back(self._gradients)

    def exchange(self) -> bool:
        """Whether `.grad` is the global gradient: at the last micro-batch, if nobody was lost.

        Raises:
            StepInsideBlockError: inside `with job.step():` gradients are not complete.
        """
        if self._gradients.is_open:
            raise StepInsideBlockError
        step = self._step
        if step is None or not step.is_last_micro_batch:
            return False
        if not step.is_exchanged:
            step.is_exchanged = True
            self._gradients.finish()
            waited = self._gradients.waited_seconds
            step.compute_seconds = time.monotonic() - step.began_at - waited
            step.is_whole = (
                self._supply.is_confirmed()
                and not self._gradients.has_failed
                and self._membership.stop_handover()
            )
            if not step.is_whole:
                self._gradients.drop_references()
                self._membership.fail()
        return step.is_whole

    def step_optimizer(
        self, optimizer: torch.optim.Optimizer, real_step: Callable[[], Any]
    ) -> None:
        """What the script's `optimizer.step()` does; nothing before the last micro-batch."""
        if self._step is not None and self.exchange():
            self.samples_at_once = 0  # what comes now needs no memory per sample
            with self.rates.scaled(optimizer):
                real_step()
            if not self._step.has_stepped:
                self._step.learning_rate = self.rates.rate_of(optimizer)
            self._step.has_stepped = True

    def close_step(self) -> bool:
        """The script is through with the last micro-batch: the step counts.

        Returns whether an optimizer has made it, as far as is known.
        """
        has_stepped = True
        if self._step is not None and self.exchange():
            has_stepped = self._step.has_stepped
            self.state.trained = self._gradients.trained_next
            self._advance(self._step)
            self._noise.note()
            self._membership.decide(self._gradients.sums.tally, self)
            self._gradients.end_step()
        self._step = None
        return has_stepped

    @property
    def may_change_state(self) -> bool:
        """Whether schedulers and averages may move: once per step, and freely between epochs."""
        if self._step is None:
            return not self.is_catching_up and not self._is_in_epoch
        return self._step.is_whole

    @property
    def meets_others(self) -> bool:
        """Whether all workers come by this place of the script equally often.

        They do between epochs, and at the last micro-batch of a step.
        """
        if self._step is None:
            return not self.is_catching_up and not self._is_in_epoch
        return self._step.is_last_micro_batch

    @property
    def scheduler_steps(self) -> int:
        """How many steps one `scheduler.step()` of the script stands for at this moment.

        Inside an epoch: how many of the base batch the present step completes. Between epochs:
        one; under AdaScale as many epochs as the latest has been worth.
        """
        if not self.may_change_state:
            return 0
        if self._step is None:
            return self.rates.epochs_counted
        return self._schedule_after(self._step).whole_steps_since(self.state.schedule)

    @property
    def is_in_epoch(self) -> bool:
        return self._is_in_epoch

    @property
    def epoch_length(self) -> int | None:
        """Samples of the epoch; None while a stream keeps it to itself."""
        return self._supply.length

    # -- parts of a step -----------------------------------------------------------------------

    def _on_complete_gradients(self) -> None:
        if self._step is not None:
            self._noise.look(self._gradients, len(self._step.share.batch))

    def _schedule_after(self, step: _Step) -> Schedule:
        return self.rates.schedule_after(step.share.batch, self._supply.length)

    def _advance(self, step: _Step) -> None:
        state, share = self.state, step.share
        state.schedule = self._schedule_after(step)
        state.step += 1
        state.samples += len(share.batch)
        state.cursor = self._supply.after(share.batch)
        if self._audit:
            self._audit.record(
                generation=self._membership.generation,
                step=state.step,
                epoch=state.cursor.epoch,
                batch=share.batch,
                share=share.own,
            )
        leg = self._membership.course.at(state.step - 1)
        self._on_commit(
            CommittedStep(
                generation=self._membership.generation,
                step=state.step,
                epoch=state.cursor.epoch + self._supply.part_of_epoch(share.batch.stop),
                samples=state.samples,
                batch=len(share.batch),
                own_samples=len(share.own),
                workers=self._membership.size,
                computing=len(leg.workers),
                global_batch_size=leg.batch_size,
                local_batch_size=share.largest,
                learning_rate=step.learning_rate,
                waited_seconds=self._gradients.waited_seconds,
                compute_seconds=step.compute_seconds,
                noise_scale=state.noise.scale,
            ),
            self._clock,
        )

    def _write_due_checkpoint(self) -> None:
        if self._checkpoints and self._checkpoints.is_due and self._membership.rank == 0:
            self._checkpoints.write_in_background(self.state.step, self.state.to_checkpoint())

    def _tell_checkpoint(self, step: int) -> None:
        self._membership.tell(FromWorker.CHECKPOINTED, step=step)
