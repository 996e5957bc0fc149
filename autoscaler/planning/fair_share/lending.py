"""Who may borrow what is left, and for whom is it saved up?

Nothing is lent while somebody is owed GPUs that are on their way. A job that has waited long and is
bigger than what is free gets a reservation: what becomes free adds up for it. Others may use that
until then as guests, which are paused as soon as the big job fits without them. A guest is a job
that can be paused, started when the reservation stood, and comes after the big job: by its aged
priority in the same team, by not having waited long itself in another team.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.fair_share.lending_queue import LendingQueue
from autoscaler.planning.fair_share.precedence import rank, runs_since, waited_seconds
from autoscaler.planning.fair_share.verdicts import Reservation
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share.ledger import Ledger
    from autoscaler.planning.snapshot.cluster_state import ReclaimRules

RESERVATION_SECONDS: Final = 300.0  # guessed: a job that waited so long is no longer overtaken
GUEST_SECONDS: Final = 60.0  # guessed: for less a start is not worth while


@dataclass(slots=True, kw_only=True)
class Lending:
    """One round of lending: each waiting job is admitted or refused, in the order of claims."""

    ledger: Ledger
    borrowers: Sequence[Demand]  # running, admitted, least important last
    reclaim: ReclaimRules
    now: float
    owed: Demand | None = None  # waits for GPUs of its team's claim
    is_owed_soon: bool = False  # these are on their way
    reservation: Reservation | None = None
    gave_way: dict[str, Reservation] = field(default_factory=dict)  # by ids of paused guests
    _holder: Demand | None = None  # of the reservation
    _lent: list[Demand] = field(default_factory=list)  # started in this round

    def run(self, waiting: Iterable[Demand]) -> None:
        for demand in LendingQueue(waiting, self.ledger, self.now):
            self._decide(demand)

    def _decide(self, demand: Demand) -> None:
        ledger = self.ledger
        if (problem := ledger.limit_problem(demand)) is not None:
            ledger.refuse(demand, problem)
        elif not ledger.may_be_lent_to(demand):
            ledger.refuse(demand, JobReason.WAITING_FOR_QUOTA)
        elif self.owed is not None and (self.is_owed_soon or _is_for_good(demand)):
            ledger.refuse(demand, JobReason.WAITING_FOR_RECLAIM, self.owed.job.job_id)
        elif self.reservation is not None and not self._may_be_guest(demand):
            ledger.refuse(demand, JobReason.BEHIND_HIGHER_PRIORITY, self.reservation.job_id)
        elif (missing := ledger.missing_for(demand)) == 0:
            self._start_or_wait(demand)
        else:
            self._reserve_or_wait(demand, missing)

    def _start_or_wait(self, demand: Demand) -> None:
        """A young request, too, first waits for GPUs that become free by themselves."""
        is_young = waited_seconds(demand, self.now) < self.reclaim.delay_seconds
        if is_young and self.ledger.takes_from_others(demand):
            self.ledger.refuse(demand, JobReason.WAITING_FOR_CAPACITY)
        else:
            self.ledger.admit(demand, is_lent=True)
            self._lent.append(demand)

    def _reserve_or_wait(self, demand: Demand, missing: int) -> None:
        has_waited_long = waited_seconds(demand, self.now) > RESERVATION_SECONDS
        is_possible = demand.smallest_gpus <= self.ledger.gpus_open
        if self.reservation is None and has_waited_long and is_possible:
            if guests := self._in_the_way(demand):
                self._send_away(guests, demand)
                self.ledger.admit(demand, is_lent=True)
                return
            self._holder = demand
            self.reservation = self._reserved(
                demand, saved=self._saved_for(demand), promised_at=self._free_by(missing)
            )
        is_kept = demand.smallest_gpus <= self.ledger.gpus_free
        reason = JobReason.WAITING_FOR_FAIR_SHARE if is_kept else JobReason.WAITING_FOR_CAPACITY
        self.ledger.refuse(demand, reason)

    def _guests_of(self, holder: Demand) -> list[Demand]:
        """Return those that started just now first, then running ones, least important first."""
        return [
            demand
            for demand in reversed([*self.borrowers, *self._lent])
            if demand.job.job_id in self.ledger.admitted and self._is_guest(demand, holder)
        ]

    def _in_the_way(self, holder: Demand) -> list[Demand]:
        """The guests without which the holder fits; none where all of them are not enough."""
        aside: list[Demand] = []
        for guest in self._guests_of(holder):
            aside.append(guest)
            self.ledger.set_aside(guest)
            if self.ledger.missing_for(holder) == 0:
                return self._without_the_needless(aside, holder)
        for guest in aside:
            self.ledger.put_back(guest)
        return []

    def _without_the_needless(self, aside: list[Demand], holder: Demand) -> list[Demand]:
        """Put back whoever was set aside first and, as it turns out, need not have been."""
        needed: list[Demand] = []
        for guest in aside:
            self.ledger.put_back(guest)
            if self.ledger.missing_for(holder) > 0:
                self.ledger.set_aside(guest)
                needed.append(guest)
        return needed

    def _is_guest(self, demand: Demand, holder: Demand) -> bool:
        """The same while it waits and when it runs."""
        started_at = runs_since(demand) if demand.is_active else self.now
        if _is_for_good(demand) or started_at <= self._reserved_since(holder):
            return False
        if demand.is_active and not demand.can_be_paused:
            return False
        if demand.job.team == holder.job.team:
            return rank(holder) < rank(demand)
        return started_at - demand.job.submitted_at <= RESERVATION_SECONDS

    def _reserved_since(self, holder: Demand) -> float:
        return self.now - waited_seconds(holder, self.now) + RESERVATION_SECONDS

    def _send_away(self, guests: Iterable[Demand], holder: Demand) -> None:
        due = self._reserved(holder, saved=holder.smallest_gpus, promised_at=self.now)
        for guest in guests:
            if guest.is_active:
                self.ledger.pause(guest)
                self.gave_way[guest.job.job_id] = due
            else:
                self.ledger.take_back(guest)
                self.ledger.refuse(guest, JobReason.BEHIND_HIGHER_PRIORITY, holder.job.job_id)

    def _reserved(self, holder: Demand, *, saved: int, promised_at: float | None) -> Reservation:
        return Reservation(
            job_id=holder.job.job_id,
            gpus=holder.smallest_gpus,
            saved_gpus=saved,
            since=self._reserved_since(holder),
            promised_at=promised_at,
        )

    def _saved_for(self, holder: Demand) -> int:
        """Return how many of the GPUs it needs would be there if all guests were gone."""
        guests = self._guests_of(holder)
        for guest in guests:
            self.ledger.set_aside(guest)
        missing = self.ledger.missing_for(holder)
        for guest in guests:
            self.ledger.put_back(guest)
        return max(holder.smallest_gpus - missing, 0)

    def _free_by(self, missing: int) -> float | None:
        """Return when running jobs will have given so many GPUs back, if lengths are right."""
        ends = sorted(
            (seconds, demand.smallest_gpus)
            for demand in self.ledger.admitted.values()
            if (seconds := demand.seconds_left) is not None
        )
        for seconds, gpus in ends:
            missing -= gpus
            if missing <= 0:
                return self.now + seconds
        return None

    def _may_be_guest(self, demand: Demand) -> bool:
        """True for whoever would give way, for a while that is worth while."""
        until = self.reservation.promised_at if self.reservation else None
        is_too_short = until is not None and until - self.now < GUEST_SECONDS
        is_guest = self._holder is not None and self._is_guest(demand, self._holder)
        return is_guest and not is_too_short


def _is_for_good(demand: Demand) -> bool:
    return demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE
