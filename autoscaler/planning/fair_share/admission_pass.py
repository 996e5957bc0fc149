"""Who may run? One pass over all jobs, in this order.

1. running jobs that cannot give way: a change is under way, or they are non-preemptible
2. running jobs within their team's claim, then young ones: these are only shrunk, not paused
3. waiting jobs within their team's claim, by priority and age: *owed*
4. running jobs on borrowed GPUs, most important first: those that no longer fit are paused
5. waiting jobs on borrowed GPUs, each time from the team that borrows least for its weight

A team's claim is its guarantee or its fair share, as the pool's reclaim target says. Being admitted
says only that a job gets its smallest size; the optimizer decides what it gets beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.fair_share.entitlement import entitle
from autoscaler.planning.fair_share.ledger import Ledger
from autoscaler.planning.fair_share.lending import Lending
from autoscaler.planning.fair_share.precedence import (
    by_aged_priority,
    by_importance,
    runs_since,
    waited_seconds,
)
from autoscaler.planning.fair_share.usage import TeamUsage
from autoscaler.planning.fair_share.verdicts import Admission
from autoscaler.planning.snapshot.vocabulary import Preemptibility, ReclaimTarget

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share.entitlement import Entitlement
    from autoscaler.planning.snapshot.cluster_state import PlannedPool
    from autoscaler.planning.teams.team_tree import TeamTree


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPass:
    """One pass over all jobs. `tree` has a node for every team; `gpus` are the schedulable ones."""

    demands: Sequence[Demand]
    pool: PlannedPool
    tree: TeamTree
    gpus: int
    now: float

    def run(self) -> Admission:
        possible = [demand for demand in self.demands if demand.sizes]
        running = by_importance(d for d in possible if d.is_active)
        waiting = by_aged_priority(d for d in possible if not d.is_active)
        usage = TeamUsage.of(
            self.tree, running, usage_weight=self.pool.usage_weight, gpus=self.gpus
        )
        claim = self._claim(running, waiting)
        ledger = Ledger.open(self.tree, usage, self.gpus, running)
        for demand in self.demands:
            if not demand.sizes:
                ledger.give_up(demand)

        borrowers = self._admit_running(ledger, running, claim)
        owed, unmet = self._admit_owed(ledger, [d for d in waiting if _is_in(claim, d)])
        kept = _admit_or_pause(ledger, borrowers, keeps_what_is_kept=True)
        for team, gpus in claim.held.items():
            ledger.room.hold(team, gpus)
        lending = Lending(
            ledger=ledger,
            borrowers=kept,
            reclaim=self.pool.reclaim,
            now=self.now,
            owed=unmet,
            is_owed_soon=unmet is not None and self._comes_soon(unmet, ledger, claim),
        )
        lending.run(d for d in waiting if not _is_in(claim, d))
        return Admission(
            admitted=tuple(ledger.admitted.values()),
            paused=tuple(ledger.paused),
            refused=ledger.refused,
            guaranteed=claim.jobs,
            owed=tuple(owed),
            gpus_free=max(ledger.gpus_free, 0),
            entitled=claim.gpus,
            reservation=lending.reservation,
            gave_way=lending.gave_way,
        )

    def _claim(self, running: Sequence[Demand], waiting: Sequence[Demand]) -> Entitlement:
        past = TeamUsage.of(self.tree, (), usage_weight=self.pool.usage_weight, gpus=self.gpus)
        return entitle(
            running,
            waiting,
            tree=self.tree,
            gpus=self.gpus + sum(demand.stuck_gpus for demand in running),
            lowered_weight=past.weight,
            has_surplus=self.pool.reclaim.target is ReclaimTarget.FAIR_SHARE,
        )

    def _admit_running(
        self, ledger: Ledger, running: Sequence[Demand], claim: Entitlement
    ) -> list[Demand]:
        """Steps 1 and 2; returns the borrowers that are left for step 4."""
        for demand in running:
            if not demand.can_be_paused:
                ledger.admit(demand, is_lent=not _is_in(claim, demand))
        pausable = [demand for demand in running if demand.can_be_paused]
        _admit_or_pause(ledger, (d for d in pausable if _is_in(claim, d)))
        borrowers = [demand for demand in pausable if not _is_in(claim, demand)]
        _admit_or_pause(ledger, filter(self._is_young, borrowers))
        return [demand for demand in borrowers if not self._is_young(demand)]

    def _admit_owed(
        self, ledger: Ledger, claimants: Iterable[Demand]
    ) -> tuple[list[Demand], Demand | None]:
        """Step 3: who of them starts, and the first that must wait for what it is owed."""
        owed: list[Demand] = []
        unmet: Demand | None = None
        for demand in claimants:
            if (problem := ledger.limit_problem(demand)) is not None:
                ledger.refuse(demand, problem)
            elif demand.smallest_gpus > ledger.gpus_open:
                ledger.refuse(demand, JobReason.WAITING_FOR_CAPACITY)
            elif ledger.may_claim(demand) and not self._should_wait(demand, ledger):
                ledger.admit(demand)
                owed.append(demand)
            else:
                ledger.refuse(demand, JobReason.WAITING_FOR_RECLAIM)
                unmet = unmet or demand
        return owed, unmet

    def _should_wait(self, demand: Demand, ledger: Ledger) -> bool:
        """A young claim first waits for GPUs that become free by themselves."""
        is_young = waited_seconds(demand, self.now) < self.pool.reclaim.delay_seconds
        return is_young and ledger.takes_from_others(demand)

    def _comes_soon(self, owed: Demand, ledger: Ledger, claim: Entitlement) -> bool:
        """True if it waits for a delay, a change under way or a young borrower.

        Otherwise it waits for jobs that cannot be paused, and that may take long.
        """
        to_come = sum(
            demand.smallest_gpus - (demand.floor_gpus if _is_in(claim, demand) else 0)
            for demand in ledger.admitted.values()
            if demand.is_active and demand.job.preemptibility is not Preemptibility.NON_PREEMPTIBLE
        )
        return ledger.missing_for(owed) <= to_come

    def _is_young(self, borrower: Demand) -> bool:
        return self.now - runs_since(borrower) < self.pool.reclaim.min_runtime_seconds


def _admit_or_pause(
    ledger: Ledger, running: Iterable[Demand], *, keeps_what_is_kept: bool = False
) -> list[Demand]:
    """Return those that fit, beside what teams never lend if so wanted; the others are paused."""
    admitted: list[Demand] = []
    for demand in running:
        if ledger.missing_for(demand) == 0 if keeps_what_is_kept else ledger.has_gpus_for(demand):
            ledger.admit(demand)
            admitted.append(demand)
        else:
            ledger.pause(demand)
    return admitted


def _is_in(claim: Entitlement, demand: Demand) -> bool:
    return demand.job.job_id in claim.jobs
