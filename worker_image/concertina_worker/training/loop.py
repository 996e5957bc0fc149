"""What happens in one optimizer step of one worker? The order of things is here.

A step takes the next global batch at the cursor, computes this worker's share in micro-batches,
exchanges gradients, and commits. A step that loses a worker on its way is not committed: after
the recovery it is computed again, from the same cursor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch

from concertina_worker.batch.learning_rate import CustomScaling
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.plan import GenerationPlan
from concertina_worker.samples.share import BatchShare
from concertina_worker.samples.source import SampleSource
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.checkpoint_duty import CheckpointDuty
from concertina_worker.training.committing import Commits
from concertina_worker.training.epoch_data import EpochData
from concertina_worker.training.gradients.blocks import (
    StepBlockError,
    StepInsideBlockError,
)
from concertina_worker.training.gradients.in_parts import GradientsInParts
from concertina_worker.training.gradients.noise_meter import NoiseMeter
from concertina_worker.training.gradients.summing import Gradients
from concertina_worker.training.rates import Rates
from concertina_worker.training.reporting.reports import StepClock
from concertina_worker.training.script_position import ScriptPosition
from concertina_worker.training.step import CommittedStep, StepUnderWay

OnCommit = Callable[[CommittedStep, StepClock], None]


class TrainingLoop:
    """Makes steps; knows the script's objects and the worker's place among the others."""

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: WorkerMembership | Alone,
        state: TrainingState,
        on_commit: OnCommit,
        lr_scaling: CustomScaling | None = None,
    ) -> None:
        self.state = state
        self.rates = Rates(environment.batch, lr_scaling, state)
        self.global_batch_size = 0
        self.samples_at_once = 0  # of the micro-batch computed now, or where the script broke off
        self.on_rescale: list[Callable[[], None]] = []
        self._has_counted = True  # the epoch, or there is none
        is_whole = state.parts is None  # else nobody has all that is to be measured
        self._noise = NoiseMeter(state, is_wanted=environment.batch is not None and is_whole)
        self._membership = membership
        self._on_commit = on_commit
        self._clock = StepClock()
        self._checkpoints = CheckpointDuty(
            environment.checkpoints, membership, state, start=environment.start
        )
        self._gradients = self._make_gradients()
        if isinstance(membership, WorkerMembership):
            self._gradients.touch()
        self.epoch_data = EpochData(environment, membership, state)
        self._commits = Commits(environment, membership, self.epoch_data, self.rates, state)
        self.position = ScriptPosition(state, self.rates, self._commits.schedule_after)

    # -- for the membership --------------------------------------------------------------------

    def adopt(self, plan: GenerationPlan) -> None:
        self.use_batch(plan.global_batch_size)
        self._clock.begin_generation()
        self._checkpoints.note_step()
        for callback in self.on_rescale:
            callback()

    def use_batch(self, size: int) -> None:
        """Use this batch from the next step on for which nothing is loaded yet."""
        self.global_batch_size = size

    def begin(self) -> None:
        self._checkpoints.begin()

    def furthest_step(self) -> int:
        return self._checkpoints.furthest_step()

    def write_checkpoint(self) -> None:
        self._checkpoints.write_now()

    def write_missing_checkpoint(self) -> None:
        self._checkpoints.write_if_missing()

    # -- an epoch ------------------------------------------------------------------------------

    def begin_epoch(self, source: SampleSource) -> None:
        """Raises DataMismatchError when the epoch began with other data."""
        self.epoch_data.begin_epoch(source)
        self.position.epoch = self.state.cursor.epoch
        self._has_counted = False
        if self.state.cursor.position == 0:
            self.state.schedule_at_epoch = self.state.schedule
        self.position.is_in_epoch = True
        self._clock.resume()

    def settle(self) -> bool:
        """All of an epoch's steps are made: what the script does then is about one model.

        Newcomers get what they still lack. All get the buffers of the main worker, which newcomers
        and checkpoints have: running averages differ until then, for each worker normalises its
        own samples.

        Returns False when members were lost meanwhile, whose steps may have to be made again.
        """
        self._membership.rest()
        self._membership.settle(self)
        if self._membership.owes_state:
            return False
        if not self.position.is_catching_up:
            self._membership.take_from_main(self.state.buffers())
        return True

    def mend(self) -> None:
        """Go back to where all parts of the state are, if some were lost behind the last step."""
        if self.state.parts is not None and self._membership.owes_state:
            self._membership.turn(self)

    def count_epoch(self) -> None:
        """The script is through with it, and this worker with the script's."""
        if self.position.is_catching_up or self._has_counted:
            return
        length = self.epoch_data.length
        self.rates.count_epoch(used=self.state.cursor.position / length if length else 0.0)
        self._has_counted = True

    def end_epoch(self) -> None:
        """Maybe because of an error of the script: others may not be waited for here."""
        if self.position.has_stepped:  # the script broke off
            self.close_step()
        self._membership.rest()
        self.position.is_in_epoch = False
        self.position.step = None
        self.epoch_data.end_epoch()
        self._gradients.end_steps()
        self._clock.pause()

    # -- a step, in order ----------------------------------------------------------------------

    def begin_step(self) -> BatchShare | None:
        """Return what to compute next; None at the end of the epoch.

        A worker without samples in this step, because the batch is small or its state is still on
        the way, rehearses: it gets a few that others compute, and its gradient goes nowhere. So
        the script's code runs in every step on every worker, and what it does to gradients,
        schedules and averages is the same everywhere.

        Switches, recoveries and checkpoints wait at the end of an epoch until the next one
        begins: the script's code between epochs runs as if nothing could happen there.
        """
        self.position.step = None
        self.samples_at_once = 0
        if self.epoch_data.is_used_up and not self._membership.owes_state:
            return None
        self._keep_parts_if_agreed()  # before other workers have them
        self._membership.turn(self)
        self._checkpoints.write_if_due()
        began_at = time.monotonic()
        if self.position.is_catching_up:
            return None
        share = self.epoch_data.begin_step()
        if share is None:
            return None
        self.position.step = StepUnderWay(
            share=share, began_at=began_at, waited_seconds=self.epoch_data.waited_seconds
        )
        self.rates.use_batch(self._membership.step_plan.at(self.state.step).batch_size)
        self.state.trained = self.state.trained or self._gradients.trainable
        self._gradients.train(self.state.trained)
        self._gradients.begin_step(
            self._membership.start_sum,
            self._membership.offer,
            is_alone=self._membership.size == 1,
            measures_norms=self._noise.is_due(share, workers=self._membership.size),
        )
        return share

    def load(self, share: BatchShare, number: int) -> Any:
        """One of its micro-batches, as the script expects it."""
        is_last = number == len(share.micro_batches) - 1
        if self.position.step is not None:
            self.position.step.is_last_micro_batch = is_last
        self._gradients.begin_micro_batch(weight=share.weight(number), is_last=is_last)
        self.samples_at_once = len(share.micro_batches[number])
        return self.epoch_data.load(number)

    def rehearse(self) -> Any:
        """A micro-batch that goes nowhere: see `Job.batches`."""
        self.position.step = None
        self._gradients.rehearse()
        return self.epoch_data.rehearsal()

    def mean(self, value: float, *, line: int) -> float:
        """Take the mean over all workers; called in this line of the script. See `Job.mean`."""
        if not self.position.meets_others:
            return value
        began_at = time.monotonic()
        mean = self._membership.mean(value, line=line)
        if self.position.step is not None:
            self.position.step.waited_seconds += time.monotonic() - began_at
        return mean

    def several_backwards(self) -> AbstractContextManager[None]:
        """Enclose all backward passes of one micro-batch; see `blocks`."""
        if not self.position.is_in_epoch:
            raise StepBlockError
        return self._gradients.several_passes()

    def holding_back(self) -> AbstractContextManager[None]:
        """Enclose all backward passes of one micro-batch but the last."""
        return self._gradients.held_back()

    def exchange(self) -> bool:
        """Exchange gradients; True at the last micro-batch if nobody was lost: `.grad` is global.

        Raises:
            StepInsideBlockError: inside `with job.step():` gradients are not complete.
        """
        if self._gradients.is_open:
            raise StepInsideBlockError
        step = self.position.step
        if step is None or not step.is_last_micro_batch:
            return False
        if not step.is_exchanged:
            step.is_exchanged = True
            self._gradients.finish()
            step.waited_seconds += self._gradients.waited_seconds
            step.compute_seconds = time.monotonic() - step.began_at - step.waited_seconds
            step.is_whole = (
                self.epoch_data.is_confirmed()
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
        """Do what the script's `optimizer.step()` does; nothing before the last micro-batch."""
        step = self.position.step
        if step is not None and self.exchange():
            self.samples_at_once = 0  # what comes now needs no memory per sample
            with self.rates.scaled(optimizer):
                real_step()
            if not step.has_stepped:
                step.learning_rate = self.rates.rate_of(optimizer)
            step.has_stepped = True

    def close_step(self) -> bool:
        """The script is through with the last micro-batch: the step counts.

        Returns whether an optimizer has made it, as far as is known.
        """
        step = self.position.step
        if step is None or not self.exchange():
            self.position.step = None
            return True
        self.state.trained = self._gradients.trained_next
        committed = self._commits.commit(step)
        self._checkpoints.note_step()
        self._on_commit(committed, self._clock)
        self._noise.note()
        self._membership.decide(self._gradients.sums.tally, self)
        self._gradients.end_step()
        self.position.step = None
        return step.has_stepped

    def log(self, values: Mapping[str, float]) -> None:
        """Values of the step under way, or of the last one between two epochs."""
        is_under_way = self.position.step is not None
        self._checkpoints.log(values, step=self.state.step + is_under_way)

    # -- parts of a step -----------------------------------------------------------------------

    def _on_complete_gradients(self) -> None:
        if self.position.step is not None and isinstance(self._gradients, Gradients):
            self._noise.look(self._gradients, len(self.position.step.share.batch))

    def _make_gradients(self) -> Gradients | GradientsInParts:
        state = self.state
        if state.parts is None:
            return Gradients([*state.model.parameters()], self._on_complete_gradients)
        return GradientsInParts(state.model, state.parts, self._checkpoints.is_due)

    def _keep_parts_if_agreed(self) -> None:
        gradients = self._gradients
        if not isinstance(gradients, GradientsInParts):
            return
        if gradients.parts.is_new:  # there is nothing else to go back to
            self._checkpoints.write_now()
        elif gradients.is_checkpoint_agreed:
            self._checkpoints.write_parts()
        gradients.is_checkpoint_agreed = False
