"""Which workers should train next? Pure answers from what is desired and who could.

Shrinks come first: a worker that is no longer wanted leaves although joiners are not ready yet,
unless one of them takes its place: then it stays until that is ready, and training never has fewer
workers than are wanted. Joiners come together, once all of them are warm: each switch costs
something, and the batch the service chose is meant for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from concertina_worker.coordinator.knowledge.crew import Crew
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import DesiredAction, MemberPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationChoice:
    """The members (in rank order), batch and revision of the next plan."""

    members: tuple[str, ...]
    global_batch_size: int
    revision: int


def first_members(memory: Memory, crew: Crew) -> GenerationChoice | None:
    """All desired workers at once; None while one of them is not ready."""
    desired = memory.desired
    wanted = _wanted(memory, crew)
    if desired is None or not wanted or not all(crew.can_join(worker) for worker in wanted):
        return None
    return with_members(
        tuple(wanted), memory, global_batch_size=desired["global_batch_size"], revision_before=0
    )


def next_members(memory: Memory, crew: Crew, active: GenerationPlan) -> GenerationChoice | None:
    """None: the active plan is what is desired, as far as possible now."""
    if memory.desired is None:
        return None
    members = _staying_and_ready(memory, crew, active)
    batch = memory.desired["global_batch_size"]
    if set(members) != set(memory.desired["workers"]):  # a larger batch comes with the joiners
        batch = min(batch, active.global_batch_size)
    choice = with_members(members, memory, global_batch_size=batch, revision_before=active.revision)
    now = (active.members, active.global_batch_size, active.revision)
    return choice if (choice.members, choice.global_batch_size, choice.revision) != now else None


def with_members(
    members: tuple[str, ...], memory: Memory, *, global_batch_size: int, revision_before: int
) -> GenerationChoice:
    """A choice that counts as the desired revision only when it has exactly those workers."""
    desired = memory.desired
    is_fulfilled = desired is not None and set(members) == set(desired["workers"])
    return GenerationChoice(
        members=members,
        global_batch_size=global_batch_size if members else 0,
        revision=desired["revision"] if desired and is_fulfilled else revision_before,
    )


def unchanged(active: GenerationPlan) -> GenerationChoice:
    """Stay as it is: takes back a plan that was published after `active`."""
    return GenerationChoice(
        members=active.members,
        global_batch_size=active.global_batch_size,
        revision=active.revision,
    )


def survivors(memory: Memory, crew: Crew) -> tuple[str, ...]:
    """Return whoever may hold state, or was about to get it, and is still there."""
    return tuple(
        worker
        for worker in memory.planned_workers
        if crew.is_connected(worker) and crew.phase(worker) is not MemberPhase.FINISHED
    )


def is_stopping(memory: Memory) -> bool:
    return memory.desired is not None and memory.desired["action"] == DesiredAction.STOP


def _staying_and_ready(memory: Memory, crew: Crew, active: GenerationPlan) -> tuple[str, ...]:
    if is_stopping(memory):
        return ()
    wanted = _wanted(memory, crew)
    stayers = tuple(worker for worker in active.members if worker in wanted)
    if not stayers:  # all are replaced: somebody must stay to hand the state over
        stayers = tuple(worker for worker in active.members if not crew.is_leaving(worker))
    if not stayers:
        return ()
    joiners = tuple(worker for worker in wanted if worker not in active.members)
    if all(crew.can_join(worker) for worker in joiners):
        return stayers + joiners
    others = (w for w in active.members if w not in stayers and not crew.is_leaving(w))
    in_place_of_joiners = tuple(others)[: max(len(wanted) - len(stayers), 0)]
    return tuple(w for w in active.members if w in stayers + in_place_of_joiners)


def _wanted(memory: Memory, crew: Crew) -> list[str]:
    if memory.desired is None or is_stopping(memory):
        return []
    return [
        worker
        for worker in memory.desired["workers"]
        if worker not in memory.lost and not crew.is_leaving(worker)
    ]
