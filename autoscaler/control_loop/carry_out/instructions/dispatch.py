"""How is done what rules gave? For many jobs at once: what is written first, then the orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from autoscaler.control_loop.carry_out import writing
from autoscaler.control_loop.carry_out.instructions import job_rows, processes, worker_rows
from autoscaler.control_loop.carry_out.writing import Drafting, JobDraft
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.views import job_views
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling import instructions as what
from autoscaler.reconciling.instructions import Instruction, Instructions
from autoscaler.reconciling.snapshot import RefusedProcesses

Write = Callable[[Sequence[Any], JobDraft, LiveJob, TickContext], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInstructions:
    """What one rule gave for one job."""

    view: LiveJob
    instructions: Instructions

    @property
    def written(self) -> list[Instruction]:
        return [one for one in self.instructions if type(one) in _WRITTEN_BY]

    @property
    def orders(self) -> list[what.HostInstruction]:
        return [one for one in self.instructions if isinstance(one, what.HostInstruction)]

    def includes(self, kind: type[Instruction]) -> bool:
        return any(isinstance(one, kind) for one in self.instructions)


Outcome = RefusedProcesses | Exception | None


def _each(write: Callable[[Any, JobDraft, LiveJob, TickContext], None]) -> Write:
    """Carry out an instruction of which a rule gives one at most."""

    def write_each(
        alike: Sequence[Any], draft: JobDraft, view: LiveJob, context: TickContext
    ) -> None:
        for one in alike:
            write(one, draft, view, context)

    return write_each


_WRITTEN_BY: Final[Mapping[type[Instruction], Write]] = {
    what.Stop: _each(job_rows.stop),
    what.EndAs: _each(job_rows.end_as),
    what.Finish: _each(job_rows.finish),
    what.ChangeMode: _each(job_rows.change_mode),
    what.Remember: _each(job_rows.remember),
    what.RecordNotice: _each(job_rows.record_notice),
    what.BeginTerm: _each(job_rows.begin_term),
    what.StartCoordinator: _each(job_rows.note_coordinator),
    what.Tell: job_rows.tell,
    what.Say: _each(job_rows.say),
    what.Reassign: _each(worker_rows.reassign),
    what.SeatNextSet: _each(worker_rows.seat_next_set),
    what.BeginGeneration: _each(worker_rows.begin_generation),
    what.ReleaseWorker: worker_rows.release,
}


def carry_out(given: Sequence[RuleInstructions], context: TickContext) -> dict[str, Outcome]:
    """Do it all; returns by job what was refused and never can be started, or kept it back.

    `NotNow` keeps back a job that somebody else changed: nothing was done for it. What was written
    stays, though a node does not answer.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    outcomes: dict[str, Outcome] = {}
    takes_seats = [one for one in given if one.includes(what.SeatNextSet)]
    others = [one for one in given if not one.includes(what.SeatNextSet)]
    for part in (others, takes_seats):  # who gives, then who takes
        outcomes |= _write(part, context)
    done = [one for one in given if outcomes.get(one.view.id) is None]
    return outcomes | processes.give(_by_their_new_names(done, context), context)


def _write(given: Iterable[RuleInstructions], context: TickContext) -> writing.Outcomes:
    drafts = {one.view.id: _drafting(one, context) for one in given if one.written}
    seated = (one.view.assignment for one in given if one.includes(what.SeatNextSet))
    wanted = (arrangement_of(assignment).seats for assignment in seated if assignment)
    return writing.write(drafts, context, seats_on=(s.node for seats in wanted for s in seats))


def _drafting(one: RuleInstructions, context: TickContext) -> Drafting:
    def draft(draft: JobDraft) -> None:
        for kind, alike in groupby(one.written, key=type):
            _WRITTEN_BY[kind](tuple(alike), draft, one.view, context)

    return draft


def _by_their_new_names(
    done: Sequence[RuleInstructions], context: TickContext
) -> list[tuple[LiveJob, list[what.HostInstruction]]]:
    """The orders; a coordinator whose term has begun has another name now."""
    renamed = [one.view.id for one in done if one.includes(what.BeginTerm)]
    views = {view.id: view for view in job_views(renamed, context.processes, context.around)}
    ordered = [(views.get(one.view.id, one.view), one.orders) for one in done]
    return [(view, orders) for view, orders in ordered if orders]
