"""Where in its training is the script just now, and what may it do there?"""

from __future__ import annotations

from collections.abc import Callable

from concertina_worker.batch.schedule import Schedule
from concertina_worker.manual import Section
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.rates import Rates
from concertina_worker.training.script_checks.pitfalls import ScriptError
from concertina_worker.training.step import StepUnderWay


class ScriptPosition:
    """It is between epochs, in a step, at its end, or in a rehearsal, where nothing counts."""

    def __init__(
        self,
        state: TrainingState,
        rates: Rates,
        schedule_after: Callable[[StepUnderWay], Schedule],
    ) -> None:
        self.step: StepUnderWay | None = None
        self.is_in_epoch = False
        self.epoch = 0
        self._state = state
        self._rates = rates
        self._schedule_after = schedule_after

    @property
    def is_catching_up(self) -> bool:
        """A recovery brought this worker into another epoch than the script is in.

        Into a later one, or back into an earlier one, where nobody is left who had come further.
        """
        return self._state.cursor.epoch != self.epoch

    @property
    def is_between_epochs(self) -> bool:
        return self.step is None and not self.is_catching_up and not self.is_in_epoch

    @property
    def has_stepped(self) -> bool:
        """An optimizer has, in a step that is not closed yet."""
        return self.step is not None and self.step.has_stepped

    @property
    def may_change_state(self) -> bool:
        """True if schedulers and averages may move: once per step, and freely between epochs."""
        return self.is_between_epochs if self.step is None else self.step.is_whole

    @property
    def meets_others(self) -> bool:
        """True if all workers come by this place of the script equally often.

        They do between epochs, and at the last micro-batch of a step.
        """
        return self.is_between_epochs if self.step is None else self.step.is_last_micro_batch

    @property
    def steps_made(self) -> int:
        """Steps of the base batch before the present one."""
        return self._state.schedule.whole_steps

    def completes(self, every: int) -> bool:
        """True if the present step is made and brings their number to a multiple, or over it.

        Raises:
            ScriptError: the script asks before its optimizer has stepped.
        """
        step = self.step
        if step is not None and step.is_last_micro_batch and not step.is_exchanged:
            raise ScriptError(
                "job.every was called before optimizer.step(): nobody knows yet if the step"
                " counts. Call it behind.",
                Section.STEPS,
            )
        if step is None or not step.is_whole:
            return False
        after = self._schedule_after(step).whole_steps
        return after // every > self.steps_made // every

    @property
    def scheduler_steps(self) -> int:
        """The number of steps that one `scheduler.step()` of the script stands for.

        Inside an epoch: how many of the base batch the present step completes. Between epochs:
        one; under AdaScale as many epochs as the latest has been worth.
        """
        if not self.may_change_state:
            return 0
        if self.step is None:
            return self._rates.epochs_counted
        return self._schedule_after(self.step).whole_steps_since(self._state.schedule)
