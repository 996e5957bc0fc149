"""Which workers do not come any further? Judged from their heartbeats.

*Silent*: a worker sends a heartbeat a second. One that has sent none for

    max(4.5 s, 10 median steps), at most 15 s

is stopped, swapped out, or its machine is gone. While the script does something of its own for
longer than a moment (evaluation, saving, loading), 15 s: code that never lets go of the
interpreter keeps the heartbeat back, too. And 15 s while nobody of its generation is heard: then
it is rather their line to this process that is cut, and nobody trains on without the silent ones.

*Hanging*: its heartbeats come, but it has computed at one step for more than

    20 s + 10 median steps, and others wait for it

Not before it has made its first steps in a generation, which may compile or load, and not when
nobody waits: then half an hour. Code behind the exchange of a step, or between epochs, is never
judged.

*Deadlocked*: for just as long every member waits for the others. Then nobody is to blame, and
they form a new group. A plan that members do not switch to though they make step after step is
published anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from concertina_worker.coordinator.knowledge.crew import Crew, CrewMember
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.protocol import MemberPhase
from concertina_worker.wire import ScriptPlace

SILENCE_SECONDS: Final = 4.5  # with the way of a heartbeat below 5 s; trades kills of hiccups
LONGEST_SILENCE_SECONDS: Final = 15.0  # guessed: heartbeats do not get rarer with longer steps
HANGING_SECONDS: Final = 20.0  # guessed: above a hiccup of a file system
STALE_PLAN_SECONDS: Final = 90.0  # guessed: well above MEETING_SECONDS and moving a large state
FIRST_STEPS: Final = 3  # guessed: until compilers and caches have seen what comes
FIRST_STEP_SECONDS: Final = 1800.0  # guessed: above what compiling a large model takes
STEPS_OF_PATIENCE: Final = 10
A_MOMENT_SECONDS: Final = 1.0  # shorter excursions of the script are part of a step
OWN_HICCUP_SECONDS: Final = 2.0  # not looked for so long: it was this process that stood still


@dataclass(frozen=True, slots=True, kw_only=True)
class _SwitchableSince:
    """The time and the step since which members could switch to a plan."""

    generation: int
    at: float
    steps: int


class HeartbeatRules:
    """Looks at all workers a few times a second."""

    def __init__(self, memory: Memory, crew: Crew, *, now: float) -> None:
        self._memory = memory
        self._crew = crew
        self._looked_at = now
        self._stale = _SwitchableSince(generation=0, at=now, steps=0)

    def faults(self, *, now: float) -> dict[str, str]:
        """Workers to give up, each with the reason in words."""
        was_away = not 0.0 <= now - self._looked_at <= OWN_HICCUP_SECONDS
        self._looked_at = now
        if was_away:
            self._crew.count_as_heard(now)
        found = ((member.worker, self._fault_of(member, now)) for member in self._crew.connected())
        return {worker: why for worker, why in found if why}

    def is_deadlocked(self, *, now: float) -> bool:
        """Every member of the generation waits for the others."""
        members = [self._crew[w] for w in self._memory.active_members if w in self._crew]
        return len(members) > 1 and all(
            member.is_connected
            and member.place is ScriptPlace.WAITING
            and now - member.since > self._patience_with(member)
            and member.failed_in < self._generation
            for member in members
        )

    def is_stale_plan(self, *, now: float) -> bool:
        """Members train on and on without switching to the plan: something of it was lost."""
        plan = self._memory.pending
        steps = self._steps_of_the_slowest()
        if plan is None or plan.generation != self._stale.generation:
            self._stale = _SwitchableSince(
                generation=plan.generation if plan else 0, at=now, steps=steps
            )
            return False
        is_training_on = steps - self._stale.steps > STEPS_OF_PATIENCE
        return is_training_on and now - self._stale.at > STALE_PLAN_SECONDS

    def _steps_of_the_slowest(self) -> int:
        members = self._memory.active_members
        return min((self._crew[w].steps for w in members if w in self._crew), default=0)

    def _fault_of(self, member: CrewMember, now: float) -> str:
        silent_seconds = now - member.heard_at
        if silent_seconds > self._silence_limit(member, now):
            return f"no heartbeat for {silent_seconds:.1f} s"
        busy_seconds = now - member.since
        if member.place is ScriptPlace.COMPUTING and busy_seconds > self._step_limit(member):
            return f"it has computed at one step for {busy_seconds:.0f} s"
        return ""

    def _silence_limit(self, member: CrewMember, now: float) -> float:
        is_away = member.place is ScriptPlace.ELSEWHERE
        has_been_away = is_away and member.heard_at - member.since > A_MOMENT_SECONDS
        if member.phase is not MemberPhase.TRAINING or has_been_away or self._is_deaf(now):
            return LONGEST_SILENCE_SECONDS
        patience = STEPS_OF_PATIENCE * self._memory.step_seconds
        return min(max(SILENCE_SECONDS, patience), LONGEST_SILENCE_SECONDS)

    def _is_deaf(self, now: float) -> bool:
        """Nobody of the generation is heard."""
        members = [self._crew[w] for w in self._memory.active_members if w in self._crew]
        return all(now - member.heard_at > SILENCE_SECONDS for member in members)

    def _step_limit(self, member: CrewMember) -> float:
        members = self._memory.active_members
        others = [self._crew[w] for w in members if w in self._crew and w != member.worker]
        is_waited_for = any(other.place is ScriptPlace.WAITING for other in others)
        return self._patience_with(member) if is_waited_for else FIRST_STEP_SECONDS

    def _patience_with(self, member: CrewMember) -> float:
        if member.steps < FIRST_STEPS:
            return FIRST_STEP_SECONDS
        return HANGING_SECONDS + STEPS_OF_PATIENCE * self._memory.step_seconds

    @property
    def _generation(self) -> int:
        return self._memory.active.generation if self._memory.active else 0
