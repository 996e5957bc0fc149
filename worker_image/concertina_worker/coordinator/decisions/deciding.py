"""What should happen next? The same questions after every event, the most urgent first.

So it does not matter in which order things happened, only how they stand now.
"""

from __future__ import annotations

from typing import Final

from concertina_worker.coordinator.decisions import choice as choosing
from concertina_worker.coordinator.decisions.choice import GenerationChoice
from concertina_worker.coordinator.instructions import Instruction, ReleaseMember, SendPlan
from concertina_worker.coordinator.knowledge.crew import Crew
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import MemberPhase

# Above what one worker may evaluate or save while the others wait for it in the exchange. It is
# only the last resort: hung members are found by their heartbeats, and the others freed then.
COLLECTIVE_SECONDS: Final = 1800.0


class Decisions:
    """Turns what the coordinator knows into plans and releases."""

    def __init__(self, memory: Memory, crew: Crew) -> None:
        self.memory = memory
        self.crew = crew

    def decide(self) -> list[Instruction]:
        self._note_the_finish()
        out = self._release_leavers()
        if self._needs_recovery():
            out += self._recover()
        elif self.memory.pending is not None:
            out += self._replace_a_broken_plan(self.memory.pending)
        elif not self.memory.active_members:
            out += self._begin()
        else:
            out += self._rescale()
        return out + self._release_unwanted()

    # -- the questions, in order ---------------------------------------------------------------

    def _note_the_finish(self) -> None:
        """Finished: nobody is left in the generation who has not run through the last epoch."""
        phases = [self.crew.phase(worker) for worker in self.memory.active_members]
        if MemberPhase.FINISHED in phases and set(phases) <= {
            MemberPhase.FINISHED,
            MemberPhase.LOST,
        }:
            self.memory.is_finished = True
            self.memory.published = []  # a change that is still on its way comes too late
            self.memory.reports.finish_draft()

    def _release_leavers(self) -> list[Instruction]:
        """Leavers go when nobody can still be waiting for bytes of the group they were in.

        One that missed the sum of its last step, because a member was lost in it, cannot switch;
        it goes as well, for others have made that step.
        """
        active = self.memory.active
        if active is None:
            return []
        failed = self._failed_leavers()
        must_have_switched = active.stayers or tuple(self.memory.leavers)
        if not all(self._has_switched(w) or w in failed for w in must_have_switched):
            return []
        return self._release(
            [w for w in self.memory.leavers if w in self.memory.switched or w in failed],
            "the new generation trains without it",
        )

    def _failed_leavers(self) -> list[str]:
        """Leavers whose group failed, unless they are needed for a recovery."""
        memory = self.memory
        if self._needs_recovery() or (memory.pending and memory.pending.is_recovery):
            return []
        return [w for w in memory.leavers if self.crew.failed_in(w) >= memory.left_generation]

    def _needs_recovery(self) -> bool:
        pending = self.memory.pending
        newest = pending if pending and pending.is_recovery else self.memory.active
        if newest is None or self.memory.is_finished:
            return False
        return any(
            worker in self.memory.lost
            or self.crew.failed_in(worker) >= newest.generation
            or (newest.is_recovery and self.memory.withdrawn == newest.generation)
            for worker in newest.members
            if self.crew.phase(worker) is not MemberPhase.FINISHED
        )

    def _recover(self) -> list[Instruction]:
        """Survivors go on among themselves; what is desired is looked at afterwards.

        After a takeover only once every member has come back, or was given up as lost.
        """
        memory = self.memory
        if any(w not in self.crew and w not in memory.lost for w in memory.planned_workers):
            return []
        survivors = choosing.survivors(memory, self.crew)
        if not survivors:
            memory.forget_generation()
            return self._begin()
        before = memory.active or memory.pending
        assert before is not None  # noqa: S101 - or nothing would need recovery
        return self._publish(
            choosing.with_members(
                survivors,
                memory,
                global_batch_size=before.global_batch_size,
                revision_before=memory.active.revision if memory.active else 0,
            ),
            is_recovery=True,
        )

    def _replace_a_broken_plan(self, pending: GenerationPlan) -> list[Instruction]:
        """A joiner died before the switch, or the group could not be built: plan anew."""
        active = self.memory.active
        is_broken = self.memory.withdrawn == pending.generation or any(
            worker in self.memory.lost for worker in pending.members
        )
        if pending.is_recovery or active is None or not is_broken:
            return []
        choice = choosing.next_members(self.memory, self.crew, active)
        return self._publish(choice or choosing.unchanged(active), is_recovery=False)

    def _begin(self) -> list[Instruction]:
        if self.memory.is_finished or any(
            self.crew.is_connected(worker) for worker in self.memory.leavers
        ):
            return []
        choice = choosing.first_members(self.memory, self.crew)
        return self._publish(choice, is_recovery=True) if choice else []

    def _rescale(self) -> list[Instruction]:
        active = self.memory.active
        members = self.memory.active_members
        if active is None or any(
            self.crew.phase(worker) is MemberPhase.FINISHED for worker in members
        ):
            return []
        choice = choosing.next_members(self.memory, self.crew, active)
        return self._publish(choice, is_recovery=False) if choice else []

    def _release_unwanted(self) -> list[Instruction]:
        memory = self.memory
        busy = {*memory.active_members, *memory.leavers}
        busy |= set(memory.pending.members) if memory.pending else set()
        waiting = [m.worker for m in self.crew.connected() if m.worker not in busy]
        return self._release(
            [worker for worker in waiting if self._is_unwanted(worker)],
            "the job needs it no longer",
        )

    # -- in detail -----------------------------------------------------------------------------

    def _has_switched(self, worker: str) -> bool:
        return worker in self.memory.switched or self.crew.is_gone(worker)

    def _is_unwanted(self, worker: str) -> bool:
        memory = self.memory
        if self.crew[worker].attempt > memory.attempt:
            return False  # the service has not said yet what it wants of this start
        if memory.is_finished or choosing.is_stopping(memory) or self.crew.is_leaving(worker):
            return self.crew.phase(worker) is not MemberPhase.FINISHED
        if memory.desired is None:
            return False  # nor to this process anything at all
        return worker in memory.ever_desired and worker not in memory.desired["workers"]

    def _release(self, workers: list[str], reason: str) -> list[Instruction]:
        released = [
            worker
            for worker in workers
            if self.crew.is_connected(worker) and not self.crew[worker].is_released
        ]
        for worker in released:
            self.crew[worker].is_released = True
        return [ReleaseMember(worker=worker, reason=reason) for worker in released]

    def _publish(self, choice: GenerationChoice, *, is_recovery: bool) -> list[Instruction]:
        memory = self.memory
        before = memory.active_members
        plan = GenerationPlan(
            generation=memory.next_generation,
            members=choice.members,
            joiners=() if is_recovery else tuple(w for w in choice.members if w not in before),
            is_recovery=is_recovery,
            global_batch_size=choice.global_batch_size,
            batch_limit=memory.batch_limit,
            revision=choice.revision,
            timeout_seconds=COLLECTIVE_SECONDS,
            holders=before if memory.is_sharded and not is_recovery else (),
        )
        superseded = memory.pending.members if memory.pending else ()
        memory.next_generation += 1
        memory.published.append(plan)
        audience = dict.fromkeys([*plan.members, *before, *superseded])
        return [
            SendPlan(worker=worker, plan=plan)
            for worker in audience
            if self.crew.is_connected(worker)
        ]
