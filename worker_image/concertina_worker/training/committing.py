"""When does a step count? Once nobody was lost on its way, and the script is through with it.

Then the state of the training is one step further, which is written down and told.
"""

from __future__ import annotations

from concertina_worker.batch.schedule import Schedule
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.epoch_data import EpochData
from concertina_worker.training.rates import Rates
from concertina_worker.training.reporting.audit import SampleAudit
from concertina_worker.training.step import CommittedStep, StepUnderWay


class Commits:
    """Moves the state of one worker's training forward, step by step."""

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: WorkerMembership | Alone,
        epoch_data: EpochData,
        rates: Rates,
        state: TrainingState,
    ) -> None:
        self._membership = membership
        self._epoch_data = epoch_data
        self._rates = rates
        self._state = state
        folder = environment.sample_audit_dir
        self._audit = SampleAudit(folder, membership.worker) if folder else None

    def schedule_after(self, step: StepUnderWay) -> Schedule:
        """Return where schedules stand once it counts."""
        return self._rates.schedule_after(
            step.share.batch, length=self._epoch_data.length, drops_last=self._epoch_data.drops_last
        )

    def commit(self, step: StepUnderWay) -> CommittedStep:
        state, batch = self._state, step.share.batch
        state.schedule = self.schedule_after(step)
        state.step += 1
        state.samples += len(batch)
        state.cursor = self._epoch_data.after(batch)
        if self._audit:
            self._audit.record(
                generation=self._membership.generation,
                step=state.step,
                epoch=state.cursor.epoch,
                batch=batch,
                share=step.share.own,
            )
        return self._committed(step)

    def _committed(self, step: StepUnderWay) -> CommittedStep:
        state, share = self._state, step.share
        segment = self._membership.step_plan.at(state.step - 1)
        return CommittedStep(
            generation=self._membership.generation,
            step=state.step,
            epoch=state.cursor.epoch + self._epoch_data.part_of_epoch(share.batch.stop),
            samples=state.samples,
            batch=len(share.batch),
            own_samples=len(share.own),
            workers=self._membership.size,
            computing=len(segment.workers),
            global_batch_size=segment.batch_size,
            local_batch_size=share.largest,
            learning_rate=step.learning_rate,
            waited_seconds=step.waited_seconds,
            compute_seconds=step.compute_seconds,
            noise_scale=state.noise.told_scale,
        )
