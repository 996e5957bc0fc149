"""Which generation is this worker in, and what does it owe the next one?

The training loop asks here between two steps (`turn`) and around each exchange (`offer`,
`decide`, `stop_handover`). Switching, leaving and recovering all happen in `turn`: there every
member holds the same state, and the script's own code for the last step has run.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, Protocol

import torch

from concertina_worker.collective import background
from concertina_worker.collective.group import Group
from concertina_worker.data.course import Course, Leg
from concertina_worker.membership.agreement import Offer, Tally
from concertina_worker.membership.coordinator_line import CoordinatorLine
from concertina_worker.membership.newcomers import Newcomers
from concertina_worker.membership.switching import Prepared
from concertina_worker.plan import Plan
from concertina_worker.protocol import WorkerPhase
from concertina_worker.state.handover import Handover
from concertina_worker.state.recovery import synchronise
from concertina_worker.state.training_state import TrainingState
from concertina_worker.wire import FromWorker, Place

HANDOVER_POLL_SECONDS: Final = 0.2
ENDING_SECONDS: Final = 10.0  # for threads that are inside PyTorch, a checkpoint included


class Loop(Protocol):
    """What the training loop does for its membership."""

    state: TrainingState

    def adopt(self, plan: Plan) -> None:
        """A generation begins: take its batch."""

    def load_checkpoint(self) -> dict[str, Any] | None: ...

    def write_checkpoint(self) -> None:
        """Returns when it is on disk."""


class Membership:
    """A worker's place among the workers of its job."""

    def __init__(self, line: CoordinatorLine) -> None:
        self._line = line
        self._worker = line.worker
        self._group: Group | None = None
        self.generation = 0  # the newest this worker got into, be it broken since
        self.rank = 0  # in it
        self.size = 1
        self._old_group: Group | None = None  # kept until the new one has made a step
        self._offered: Prepared | None = None
        self._agreed: Prepared | None = None
        self._newcomers = Newcomers()
        self._switch_at = 0  # steps of the job before the switch agreed on
        self.course = Course.steady(1, self._worker)
        self._is_broken = False
        self._tried = 0  # newest generation this worker was in, or failed to get into

    # -- where this worker stands --------------------------------------------------------------

    @property
    def is_broken(self) -> bool:
        """A member is lost, maybe the main one, and the survivors have not yet met again."""
        return self._is_broken

    @property
    def has_ended(self) -> bool:
        """The process is on its way out, whatever the script still does."""
        return self._line.orders.has_ended

    @property
    def transfer_seconds(self) -> float:
        """For which state was sent or received in this generation."""
        return self._newcomers.transfer_seconds

    @property
    def worker(self) -> str:
        return self._worker

    def start(self) -> None:
        """Connect; from now on the coordinator knows of this worker."""
        self._line.start()

    # -- around a step, in order ---------------------------------------------------------------

    def enter(self, loop: Loop) -> None:
        """Wait, ready to train, until this worker is a member of a generation."""
        model_bytes = loop.state.model_bytes
        self._line.control.stand(phase=WorkerPhase.READY, model_bytes=model_bytes)
        self._line.control.send(FromWorker.READY, model_bytes=model_bytes)
        while self._group is None:
            prepared = self._line.await_prepared(
                lambda prepared: prepared.group is not None, newer_than=self._tried
            )
            try:
                self._get_in(prepared, loop)
            except RuntimeError:
                self._break(because_of=prepared.plan)
            del prepared  # or its group would outlive a failure
        self._line.orders.is_training = True

    def turn(self, loop: Loop) -> None:
        """Between two steps of an epoch: do what was agreed, or recover."""
        if self._recovery_is_due():
            self._break()
        if not self._is_broken and self._agreed is not None and self._is_time(loop):
            self._try_to_switch(self._agreed, loop)
        if self._is_broken:
            self._recover(loop)
        self._newcomers.go_on()
        if exit_code := self._line.orders.while_training():
            if self._line.control.release_reason is None:  # else others train on without it
                self._write_checkpoint(loop)
            self._line.orders.exit(exit_code)
        self._line.pulse.move_to(Place.COMPUTING)

    def start_sum(self, tensor: torch.Tensor) -> Any:
        """Start an exchange. Raises RuntimeError when the group is broken."""
        if self._is_broken or self._group is None:
            raise RuntimeError("the group is broken")
        return self._group.start_sum(tensor)

    def offer(self) -> Offer:
        """The plan this worker could switch to after this step."""
        self._line.pulse.move_to(Place.WAITING)
        if self._newcomers.is_on_its_way:
            return Offer(has_arrived=self._newcomers.has_arrived)
        if self._agreed is not None:
            return Offer()
        prepared = self._line.preparations.prepared()
        is_new = prepared is not None and prepared.plan.generation > self._tried
        self._offered = prepared if prepared and is_new and not prepared.plan.is_recovery else None
        return Offer(self._offered.plan.generation - self._tried if self._offered else 0)

    def stop_handover(self) -> bool:
        """Before the optimizer step: False when this worker's state cannot make that step."""
        if self._newcomers.is_on_its_way:
            self._line.pulse.move_to(Place.ELSEWHERE)
        return self._newcomers.stop()

    def rest(self) -> None:
        """No step is under way: what the script does now may take as long as it likes."""
        self._line.pulse.move_to(Place.ELSEWHERE)

    def settle(self, loop: Loop) -> None:
        """At the end of an epoch, where scripts look at their state: all of it arrives.

        Nothing is loaded ahead beyond that, so that newcomers compute from the next step on.
        """
        while self._newcomers.is_on_its_way:
            self._newcomers.go_on()
            if not self.stop_handover():
                self._break()
        if self._newcomers.are_waited_for:
            self._welcome_newcomers(first_step=loop.state.step)

    def decide(self, tally: Tally, loop: Loop) -> None:
        """The step is committed: everybody reads from the same sums whether to switch.

        Not before the first step for which no sample is loaded yet: see `data.course`.
        """
        if self._agreed is None:  # steps on the way to a switch do not mean that it is forgotten
            self._line.pulse.count_step()
        self._line.pulse.move_to(Place.ELSEWHERE)
        self._drop_old_group()
        if self._newcomers.are_waited_for and tally.is_complete(self.size):
            self._welcome_newcomers(first_step=loop.state.step + loop.state.steps_ahead)
        if self._agreed is None and self._offered is not None and tally.is_unanimous(self.size):
            self._agreed = self._offered
            self._switch_at = loop.state.step + loop.state.steps_ahead
            self.course = self.course.then(_leg(self._agreed.plan, self._switch_at))

    def _welcome_newcomers(self, *, first_step: int) -> None:
        """They have the state: from this step on they compute as well."""
        self._newcomers.are_waited_for = False
        if self._group is not None:
            members = self._group.plan.members
            self.course = self.course.welcome(*members, first_step=first_step)

    def _is_time(self, loop: Loop) -> bool:
        """For the switch agreed on; nothing is loaded ahead beyond the end of an epoch."""
        return loop.state.step >= self._switch_at or loop.state.cursor.position == 0

    def fail(self) -> None:
        """A collective failed: the step does not count; `turn` will recover."""
        self._line.pulse.move_to(Place.ELSEWHERE)
        self._break()

    def mean(self, value: float) -> float:
        """The mean over all members with the state; this worker's own when a member was lost."""
        if self._is_broken or self._group is None:
            return value
        plan = self._group.plan
        counting = plan.stayers if self._newcomers.are_waited_for else plan.members
        part = value / len(counting) if self._worker in counting else 0.0
        self._line.pulse.move_to(Place.WAITING)
        try:
            return float(self._group.sum(torch.tensor([part], dtype=torch.float64)))
        except RuntimeError:
            self._break()
            return value
        finally:
            self._line.pulse.move_to(Place.ELSEWHERE)

    def finish(self) -> None:
        """The last epoch is over."""
        if self._group is not None:
            self._group.part()
        self._line.orders.is_training = False
        self._line.control.stand(phase=WorkerPhase.FINISHED)
        self._line.control.send(FromWorker.FINISHED)

    def tell(self, kind: FromWorker, **fields: Any) -> None:
        """Send something to the coordinator; never blocks."""
        self._line.control.send(kind, **fields)

    def tell_length(self, total_samples: int) -> None:
        self._line.control.send(FromWorker.LENGTH, total_samples=total_samples)

    def close(self) -> None:
        """Deliver what is still under way and hang up."""
        self._line.close()
        self._group = self._old_group = self._offered = self._agreed = None
        self._newcomers = Newcomers()
        self._line.preparations.end()
        background.join_all(seconds=ENDING_SECONDS)

    # -- getting into a generation -------------------------------------------------------------

    def _get_in(self, prepared: Prepared, loop: Loop) -> None:
        group = prepared.group
        if group is None:
            return
        if prepared.plan.is_recovery:
            seconds = synchronise(group, loop.state, loop.load_checkpoint)
            self._install(group, loop)
            self._newcomers.transfer_seconds = seconds
            return
        loop.state.keep()
        if self._handover_begins(group):
            self._join(group, loop)

    def _handover_begins(self, group: Group) -> bool:
        """Wait until the members have agreed; False when a later plan came first."""
        while not group.await_handover(seconds=HANDOVER_POLL_SECONDS):
            self._line.orders.heed_while_waiting()
            if self._line.preparations.newest != group.plan:
                return False
        return True

    def _join(self, group: Group, loop: Loop) -> None:
        handover = Handover(group, loop.state)
        handover.receive()
        self._install(group, loop)
        self._newcomers.hand_over(handover)

    def _try_to_switch(self, agreed: Prepared, loop: Loop) -> None:
        self._agreed = self._offered = None
        if agreed.group is None:
            self._leave(agreed.plan, loop)
        try:
            self._switch(agreed.group, loop)
        except RuntimeError:
            self._break()

    def _switch(self, group: Group, loop: Loop) -> None:
        self._install(group, loop)
        if group.is_source:
            group.announce_handover()
            handover = Handover(group, loop.state)
            handover.send()
            self._newcomers.hand_over(handover)

    def _install(self, group: Group, loop: Loop) -> None:
        """This worker is a member of `group` from now on; the coordinator is told."""
        self._old_group, self._group = self._group, group
        self.rank, self.size = group.rank, group.size
        self._is_broken = False
        self._tried = self.generation = group.plan.generation
        self.course = Course((_leg(group.plan, loop.state.step),))
        self._newcomers.expect(group.plan)
        self._line.preparations.stand_in(group)
        self._line.pulse.begin_generation()
        self._line.control.stand(phase=WorkerPhase.TRAINING, plan=group.plan, failed_in=0)
        self._tell_switched(group.plan, loop)
        loop.adopt(group.plan)

    def _tell_switched(self, plan: Plan, loop: Loop) -> None:
        self._line.control.send(
            FromWorker.SWITCHED, generation=plan.generation, step=loop.state.step
        )

    def _drop_old_group(self) -> None:
        """In the background: closing the sockets takes longer than a small step."""
        old = [self._old_group]
        self._old_group = None
        if old[0] is not None:
            background.start("concertina_drop", old.clear)

    # -- losing one ----------------------------------------------------------------------------

    def _recovery_is_due(self) -> bool:
        """The coordinator knows of a loss that this worker has not felt."""
        newest = self._line.preparations.newest
        return newest is not None and newest.is_recovery and newest.generation > self._tried

    def _break(self, because_of: Plan | None = None) -> None:
        """Cut the group's sockets and drop every reference: that is what tells the others.

        Neither the generation that broke nor one that was agreed on before can be used any more;
        only a recovery plan newer than that is a way out.
        """
        self._is_broken = True
        for group in (self._group, self._agreed.group if self._agreed else None):
            if group is not None:
                group.wires.cut()
        group = self._group = self._old_group = None
        self._newcomers.give_up()
        self._offered = self._agreed = None
        newest = self._line.preparations.newest
        if because_of is not None:
            self._tried = max(self._tried, because_of.generation)
        elif newest is not None and not newest.is_recovery:
            self._tried = max(self._tried, newest.generation)
        self._line.preparations.drop(self._tried)
        self._line.preparations.stand_in(None)
        self._line.control.stand(failed_in=self._tried)
        self._line.control.send(FromWorker.FAILED, generation=self._tried)

    def _recover(self, loop: Loop) -> None:
        while self._group is None:
            prepared = self._line.await_prepared(
                lambda prepared: prepared.plan.is_recovery, newer_than=self._tried
            )
            try:
                self._get_in(prepared, loop)
            except RuntimeError:
                self._break(because_of=prepared.plan)
            del prepared

    # -- ending --------------------------------------------------------------------------------

    def _leave(self, plan: Plan, loop: Loop) -> NoReturn:
        """Out by agreement; the last to go keeps what was reached."""
        if not plan.members:
            self._write_checkpoint(loop)
        self._line.control.stand(plan=plan)
        self._tell_switched(plan, loop)
        self._line.orders.await_release()

    def _write_checkpoint(self, loop: Loop) -> None:
        if self._group is not None and self._group.rank == 0:
            loop.write_checkpoint()


def _leg(plan: Plan, step: int) -> Leg:
    """The course of a generation that begins at this step, until joiners have the state, too."""
    return Leg(
        first_step=step,
        batch_size=plan.global_batch_size,
        workers=plan.stayers,
        batch_limit=plan.batch_limit,
    )
