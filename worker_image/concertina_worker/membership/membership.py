"""What does a worker owe its generation round each step?

The training loop asks here between two steps (`turn`) and around each exchange (`offer`,
`stop_handover`, `decide`). Switching, leaving and recovering all happen in `turn`: there every
member holds the same state, and the script's own code for the last step has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

import torch

from concertina_worker.collective.group import GroupLostError
from concertina_worker.membership.agreement import AgreedSums, SwitchOffer
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.entering import Entrance
from concertina_worker.membership.presence import Presence
from concertina_worker.membership.trainer import Trainer
from concertina_worker.plan import GenerationPlan
from concertina_worker.process import background
from concertina_worker.protocol import ExitCode, MemberPhase
from concertina_worker.samples.meeting import row_at_mean, table_of, values_at_mean
from concertina_worker.samples.step_plan import StepPlan
from concertina_worker.state.transfer import send_or_receive
from concertina_worker.wire import FromWorker, ScriptPlace

_MAIN: Final = 0  # rank
ENDING_SECONDS: Final = 10.0  # for threads that are inside PyTorch, a checkpoint included


class WorkerMembership:
    """A worker's place among the workers of its job."""

    def __init__(self, line: CoordinatorLine) -> None:
        self.worker = line.worker
        self._line = line
        self._presence = Presence(line)
        self._coming = self._presence.coming
        self._handovers = self._presence.handovers
        self._entrance = Entrance(line, self._presence)
        self._is_in_parts = False  # nobody holds all of the state

    # -- where this worker stands --------------------------------------------------------------

    @property
    def generation(self) -> int:
        """The newest this worker got into, be it broken since; 0: in none yet."""
        return self._presence.generation

    @property
    def rank(self) -> int:
        return self._presence.rank

    @property
    def size(self) -> int:
        return self._presence.size

    @property
    def is_broken(self) -> bool:
        """A member is lost, maybe the main one, and the survivors have not yet met again."""
        return self._presence.is_broken

    @property
    def step_plan(self) -> StepPlan:
        """Return who computes with which batch in the coming steps."""
        return self._coming.step_plan

    @property
    def has_ended(self) -> bool:
        """The process is on its way out, whatever the script still does."""
        return self._line.orders.has_ended

    @property
    def transfer_seconds(self) -> float:
        """The seconds during which state was sent or received in this generation."""
        return self._handovers.transfer_seconds

    # -- before the first step -----------------------------------------------------------------

    def start(self) -> None:
        """Connect; from now on the coordinator knows of this worker."""
        self._line.start()

    def enter(self, trainer: Trainer) -> None:
        """Wait, ready to train, until this worker is a member of a generation."""
        model_bytes = trainer.state.model_bytes
        self._line.control.update_status(phase=MemberPhase.READY, model_bytes=model_bytes)
        parts = trainer.state.parts
        is_sharded = self._is_in_parts = parts is not None
        if parts is not None:
            parts.wait_within(self._line.pulse.waiting)
        self._line.control.update_status(is_sharded=is_sharded)
        self._line.control.send(FromWorker.READY, model_bytes=model_bytes, is_sharded=is_sharded)
        self._entrance.enter(trainer)
        self._line.orders.is_training = True
        self._line.orders.keep = lambda: self._keep_what_was_reached(trainer)

    # -- around a step, in order ---------------------------------------------------------------

    def turn(self, trainer: Trainer) -> None:
        """Do what was agreed, or recover, between two steps of an epoch."""
        if self._presence.is_recovery_due:
            self._presence.break_off()
        if not self.is_broken:
            self._switch_if_due(trainer)
        if self.is_broken:
            self._entrance.recover(trainer)
        self._handovers.go_on()
        self._end_if_told(trainer)
        self._line.pulse.move_to(ScriptPlace.COMPUTING)

    def start_sum(self, tensor: torch.Tensor) -> Any:
        """Start an exchange. Raises GroupLostError."""
        if self._presence.group is None:
            raise GroupLostError
        return self._presence.group.start_sum(tensor)

    def offer(self) -> SwitchOffer:
        """The plan this worker could switch to after this step."""
        self._line.pulse.move_to(ScriptPlace.WAITING)
        if self._handovers.is_under_way:
            return SwitchOffer(has_arrived=self._handovers.has_arrived)
        return self._coming.offer(self._line.preparations.prepared(), generation=self.generation)

    def stop_handover(self) -> bool:
        """Stop a handover before the optimizer step; False if this state cannot make that step."""
        # the script may evaluate behind the exchange
        self._line.pulse.move_to(ScriptPlace.ELSEWHERE)
        return self._handovers.stop()

    def fail(self) -> None:
        """A collective failed: the step does not count; `turn` will recover."""
        self._line.pulse.move_to(ScriptPlace.ELSEWHERE)
        self._presence.break_off()

    def decide(self, tally: AgreedSums, trainer: Trainer) -> None:
        """The step is committed: everybody reads from the same sums whether to switch.

        Not before the first step for which no sample is loaded yet: see `data.step_plan`.
        """
        if not self._coming.is_switch_agreed:  # steps on the way there do not mean it is forgotten
            self._line.pulse.count_step()
        self._line.pulse.move_to(ScriptPlace.ELSEWHERE)
        self._presence.drop_old_group()
        self._coming.decide(tally, first_step=trainer.state.step + trainer.state.steps_ahead)

    # -- between epochs ------------------------------------------------------------------------

    def settle(self, trainer: Trainer) -> None:
        """Let all of the state arrive at the end of an epoch, where scripts look at it.

        Nothing is loaded ahead beyond that, so that newcomers compute from the next step on.
        """
        if not self._coming.awaits_joiners:
            return
        while self._handovers.is_under_way:
            self._handovers.go_on()
            if not self.stop_handover():
                self._presence.break_off()
        self._meet_with_all_state()
        if not self.is_broken:
            self._coming.welcome_joiners(first_step=trainer.state.step)

    @property
    def has_lost_a_member(self) -> bool:
        """The same as `is_broken`, as soon as anybody knows; asked from any thread."""
        return self.is_broken or self._presence.is_recovery_due

    @property
    def owes_state(self) -> bool:
        """The group was lost before newcomers had the state, or with parts of it.

        Its members have to `turn` first.

        Also at the end of an epoch: behind the last one comes no step in which they would recover.
        """
        return self.is_broken and (self._coming.awaits_joiners or self._is_in_parts)

    def rest(self) -> None:
        """No step is under way: what the script does now may take as long as it likes."""
        self._line.pulse.move_to(ScriptPlace.ELSEWHERE)

    def mean(self, value: float, *, line: int) -> float:
        """The mean over all members with the state; this worker's own when a member was lost.

        Raises:
            ElsewhereError: others are not at a mean; `line` of the script tells them where.
        """
        if self._presence.group is None:
            return value
        plan = self._presence.group.plan
        counting = plan.stayers if self._coming.awaits_joiners else plan.members
        try:
            row = row_at_mean(value, line=line)
            with self._line.pulse.waiting():
                table = self._presence.group.sum(table_of(row, rank=self.rank, size=self.size))
            values = dict(zip(plan.members, values_at_mean(table), strict=True))
            return sum(values[worker] for worker in counting) / len(counting)
        except GroupLostError:
            self._presence.break_off()
            return value

    def take_from_main(self, tensors: Sequence[torch.Tensor]) -> None:
        """All take the main worker's values; some keep their own when a member was lost."""
        group = self._presence.group
        if group is None or group.size == 1:
            return
        try:
            with self._line.pulse.waiting():
                send_or_receive(group.everyone, tensors, root=_MAIN)
        except GroupLostError:
            self._presence.break_off()

    def tell(self, kind: FromWorker, **fields: Any) -> None:
        """Send something to the coordinator; never blocks."""
        self._line.control.send(kind, **fields)

    # -- at the end ----------------------------------------------------------------------------

    def finish(self) -> None:
        """The last epoch is over."""
        if self._presence.group is not None:
            self._presence.group.part()
        self._line.orders.is_training = False
        self._line.control.update_status(phase=MemberPhase.FINISHED)
        self._line.control.send(FromWorker.FINISHED)

    def close(self) -> None:
        """Deliver what is still under way and hang up."""
        self._line.close()
        self._presence.end()
        background.join_all(seconds=ENDING_SECONDS)

    # -- parts of a turn -----------------------------------------------------------------------

    def _meet_with_all_state(self) -> None:
        """Nobody comes past here unless every member has come as far."""
        if self._presence.group is None:
            return
        try:
            with self._line.pulse.waiting():
                self._presence.group.sum(torch.zeros(1))
        except GroupLostError:
            self._presence.break_off()

    def _switch_if_due(self, trainer: Trainer) -> None:
        is_epoch_new = trainer.state.cursor.position == 0
        due = self._coming.take_due(step=trainer.state.step, is_epoch_new=is_epoch_new)
        if due is None:
            return
        if due.group is None:
            self._leave(due.plan, trainer)
        try:
            if self.worker not in due.plan.members:
                self._entrance.give_away(due.group, trainer)
                self._leave(due.plan, trainer)
            self._entrance.switch(due.group, trainer)
        except GroupLostError:
            self._presence.break_off()

    def _leave(self, plan: GenerationPlan, trainer: Trainer) -> NoReturn:
        """Leave by agreement. When all go, what was reached is kept, by the main worker or all."""
        if not plan.members:
            self._write_checkpoint(trainer)
        self._line.tell_switched(plan, step=trainer.state.step)
        self._line.orders.await_release()
        if not plan.members:
            trainer.write_missing_checkpoint()
        self._line.orders.exit(ExitCode.RELEASED)

    def _end_if_told(self, trainer: Trainer) -> None:
        if exit_code := self._line.orders.while_training():
            is_whole = trainer.state.parts is None  # parts are of use when all write theirs
            if self._line.control.release_reason is None and is_whole:  # else others train on
                self._write_checkpoint(trainer)
            self._line.orders.exit(exit_code)

    def _keep_what_was_reached(self, trainer: Trainer) -> None:
        """Survivors of a loss end before they meet: any may be the only one with this state."""
        trainer.state.go_back()
        if trainer.state.is_complete:
            trainer.write_missing_checkpoint()

    def _write_checkpoint(self, trainer: Trainer) -> None:
        has_to = self.rank == 0 or trainer.state.parts is not None
        if self._presence.group is not None and has_to:
            trainer.write_checkpoint()
