"""What has admission given away so far? Counted in smallest sizes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.fair_share.occupancy import Occupancy
from autoscaler.planning.fair_share.verdicts import AdmissionRefusal
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share.usage import TeamUsage
    from autoscaler.planning.teams.team_tree import TeamTree


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Records who is admitted, paused or refused, and what is left for the others."""

    tree: TeamTree
    usage: TeamUsage
    gpus_open: int  # on nodes that take new workers
    gpus_free: int
    gpus_idle: int = 0  # of the free ones, held by nobody
    admitted: dict[str, Demand] = field(default_factory=dict)
    paused: list[Demand] = field(default_factory=list)
    refused: dict[str, AdmissionRefusal] = field(default_factory=dict)
    room: Occupancy  # of the admitted jobs
    occupied: Occupancy  # of these and of all that run, for limits
    _given_for_good: int = 0  # to borrowers that cannot be paused
    _shrinkable: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _queue_length: int = 0
    _of_users: Counter[tuple[str, str]] = field(default_factory=Counter)  # as `occupied`

    @classmethod
    def open(cls, tree: TeamTree, usage: TeamUsage, gpus: int, running: Iterable[Demand]) -> Ledger:
        """An empty ledger over so many open GPUs. Running jobs count for limits from now on."""
        ledger = cls(
            tree=tree,
            usage=usage,
            gpus_open=gpus,
            gpus_free=gpus,
            gpus_idle=gpus,
            room=Occupancy(tree),
            occupied=Occupancy(tree),
        )
        smallest_by_team: Counter[str] = Counter()
        for demand in running:
            smallest_by_team[demand.job.team] += demand.smallest_gpus
            ledger._of_users[demand.job.team, demand.job.user] += demand.smallest_gpus
            held = max(demand.held_gpus, demand.smallest_gpus)  # or it is about to
            ledger.gpus_idle -= held - demand.stuck_gpus
            spare = demand.held_gpus - demand.smallest_gpus
            ledger._shrinkable[demand.job.team] += max(spare, 0)
        for team, smallest in smallest_by_team.items():
            ledger.occupied.use(team, smallest)
        return ledger

    def admit(self, demand: Demand, *, is_lent: bool = False) -> None:
        self.put_back(demand)
        if is_lent and demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
            self._given_for_good += demand.smallest_gpus
        if not demand.is_active:
            self._occupy(demand, demand.smallest_gpus)
            self.usage.charge(demand)
            self._take_idle(demand)

    def set_aside(self, demand: Demand) -> None:
        """Give out what an admitted job holds, for a trial or for good."""
        del self.admitted[demand.job.job_id]
        self.gpus_free += demand.smallest_gpus - demand.stuck_gpus
        self.room.use(demand.job.team, demand.stuck_gpus - demand.smallest_gpus)

    def put_back(self, demand: Demand) -> None:
        self.admitted[demand.job.job_id] = demand
        self.gpus_free -= demand.smallest_gpus - demand.stuck_gpus
        self.room.use(demand.job.team, demand.smallest_gpus - demand.stuck_gpus)

    def take_back(self, start: Demand) -> None:
        """A start that was set aside does not come about in this round."""
        self._occupy(start, -start.smallest_gpus)

    def pause(self, demand: Demand) -> None:
        """A running job that was not admitted, or set aside."""
        self.paused.append(demand)
        self._occupy(demand, -demand.smallest_gpus)

    def refuse(self, demand: Demand, reason: JobReason, blocker: str | None = None) -> None:
        self._queue_length += 1
        self.refused[demand.job.job_id] = AdmissionRefusal(
            reason=reason, position=self._queue_length, blocker=blocker
        )

    def give_up(self, demand: Demand) -> None:
        """It fits no way into the pool, or no longer."""
        if demand.is_active:
            self.paused.append(demand)
        else:
            self.refused[demand.job.job_id] = AdmissionRefusal(reason=JobReason.EXCEEDS_LIMIT)

    def has_gpus_for(self, demand: Demand) -> bool:
        return demand.smallest_gpus - demand.stuck_gpus <= self.gpus_free

    def may_claim(self, demand: Demand) -> bool:
        """True if it may start within its team's claim.

        Not on what idle teams never lend, unless more was promised than there is.
        """
        is_overpromised = self.tree.pool.guaranteed > self.gpus_open
        return self.has_gpus_for(demand) if is_overpromised else self.missing_for(demand) == 0

    def missing_for(self, demand: Demand) -> int:
        """GPUs that must become free before this may be lent, over what is kept for others."""
        needed = demand.smallest_gpus - demand.stuck_gpus
        more = self.room.takes_up(demand.job.team, needed)
        kept_from = more - (self.gpus_free - self.room.withheld) if more > 0 else 0
        return max(needed - self.gpus_free, kept_from, 0)

    def takes_from_others(self, demand: Demand) -> bool:
        """True if a start needs more than idle GPUs and what its own team's jobs can give up."""
        own = self._shrinkable[demand.job.team]
        return demand.smallest_gpus > max(self.gpus_idle, 0) + own

    def limit_problem(self, demand: Demand) -> JobReason | None:
        """Return how its smallest size would break a limit, now or ever; else None.

        One of its team, of those above, or of whoever submitted it.
        """
        job, needed = demand.job, demand.smallest_gpus
        room = self.tree.users.of(job)
        if room is not None and needed > room.limit:
            return JobReason.EXCEEDS_LIMIT
        if any(n.limit is not None and needed > n.limit for n in self.tree.path(job.team)):
            return JobReason.EXCEEDS_LIMIT
        if room is not None and self._of_users[job.team, job.user] + needed > room.here:
            return JobReason.WAITING_FOR_USER_LIMIT
        is_reached = self.occupied.limit_reached(job.team, needed) is not None
        return JobReason.WAITING_FOR_QUOTA if is_reached else None

    def may_be_lent_to(self, demand: Demand) -> bool:
        """True where nobody has a guarantee: what cannot be taken back is lent only there."""
        if demand.job.preemptibility is not Preemptibility.NON_PREEMPTIBLE:
            return True
        promised = self.tree.pool.guaranteed
        return promised + self._given_for_good + demand.smallest_gpus <= self.gpus_open

    def _occupy(self, demand: Demand, gpus: int) -> None:
        self.occupied.use(demand.job.team, gpus)
        self._of_users[demand.job.team, demand.job.user] += gpus

    def _take_idle(self, demand: Demand) -> None:
        from_idle = min(demand.smallest_gpus, max(self.gpus_idle, 0))
        self.gpus_idle -= from_idle
        self._shrinkable[demand.job.team] -= demand.smallest_gpus - from_idle
