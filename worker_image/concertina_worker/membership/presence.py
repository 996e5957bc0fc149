"""In which generation is this worker, with whom, and what happens when one of them is lost?

Each change is told to the coordinator, and to the preparations for what comes next.
"""

from __future__ import annotations

from concertina_worker.collective.group import Group
from concertina_worker.membership.coming_steps import ComingSteps
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.handovers import Handovers
from concertina_worker.plan import GenerationPlan
from concertina_worker.process import background
from concertina_worker.protocol import MemberPhase
from concertina_worker.wire import FromWorker


class Presence:
    """The newest generation that this worker got into, even if that is broken since."""

    def __init__(self, line: CoordinatorLine) -> None:
        self._line = line
        self.generation = 0  # 0: in none yet
        self.rank = 0
        self.size = 1
        self.group: Group | None = None  # None: in none yet, or it is broken
        self.is_broken = False  # a member is lost, and the survivors have not yet met again
        self.tried = 0  # the newest generation this worker was in, or failed to get into
        self.coming = ComingSteps(line.worker)
        self.handovers = Handovers()
        self._old_group: Group | None = None  # kept until the new one has made a step

    def begin(self, group: Group, *, step: int, lost_steps: int = 0) -> None:
        """This worker is a member of `group` from now on."""
        plan = group.plan
        self._old_group, self.group = self.group, group
        self.generation = self.tried = plan.generation
        self.rank, self.size = group.rank, group.size
        self.is_broken = False
        self.coming.begin(plan, step=step)
        self.handovers.transfer_seconds = 0.0
        self._line.preparations.stand_in(group)
        self._line.pulse.begin_generation()
        self._line.tell_switched(
            plan, step=step, lost_steps=lost_steps, phase=MemberPhase.TRAINING, failed_in=0
        )

    def drop_old_group(self) -> None:
        """Drop the old group in the background: closing sockets takes longer than a small step."""
        old = [self._old_group]
        self._old_group = None
        if old[0] is not None:
            background.start("concertina_drop", old.clear)

    @property
    def is_recovery_due(self) -> bool:
        """The coordinator knows of a loss that this worker has not felt."""
        newest = self._line.preparations.newest
        return newest is not None and newest.is_recovery and newest.generation > self.tried

    def break_off(self, because_of: GenerationPlan | None = None) -> None:
        """Cut the group's sockets and drop every reference: that is what tells the others.

        Neither the generation that broke nor one that was agreed on before can be used any more;
        only a recovery plan newer than that is a way out.

        Args:
            because_of: the plan this worker could not get into; None: it was in.
        """
        self.is_broken = True
        if self.group is not None:
            self.group.wires.cut()
        self.group = self._old_group = None
        self.coming.give_up()
        self.handovers.give_up()
        newest = self._line.preparations.newest
        if because_of is not None:
            self.tried = max(self.tried, because_of.generation)
        elif newest is not None and not newest.is_recovery:
            self.tried = max(self.tried, newest.generation)
        self._line.preparations.drop(self.tried)
        self._line.preparations.stand_in(None)
        self._line.control.update_status(failed_in=self.tried)
        self._line.control.send(FromWorker.FAILED, generation=self.tried)

    def end(self) -> None:
        """End it: nothing refers to a group any more, and no collective hangs."""
        self.group = self._old_group = None
        self.coming.give_up()
        self.handovers.forget()
        self._line.preparations.end()
