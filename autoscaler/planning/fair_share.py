"""Who may run? Teams' guarantees first, then borrowing, as far as the smallest sizes fit.

The order in which jobs are admitted:

1. running jobs that cannot give way: a change is under way, or they are non-preemptible
2. running jobs within their team's guarantee
3. waiting jobs within their team's guarantee, by priority, then by age: *owed*
4. running jobs on borrowed GPUs, most important first: those that no longer fit are paused
5. waiting jobs on borrowed GPUs, each time from the team that borrows least for its weight

A job is within the guarantee when its smallest size, added to those of its team's jobs before it,
stays inside. Being admitted says only that a job gets its smallest size; the optimizer decides
what it gets beyond.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.cluster_state import Preemptibility
from autoscaler.planning.decisions import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autoscaler.planning.cluster_state import TeamQuota
    from autoscaler.planning.demand import Demand

RESERVATION_SECONDS: Final = 300.0  # guessed: a job that waited so long is no longer overtaken


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a job may not run now. `blocker` is the job it stands behind, if one is the cause."""

    reason: Reason
    position: int = 0
    blocker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who runs in a pool, who gives way, who waits."""

    admitted: tuple[Demand, ...]
    paused: tuple[Demand, ...]
    refused: Mapping[str, Refusal]  # by job id
    guaranteed: frozenset[str]  # ids of jobs within their team's guarantee
    owed: tuple[Demand, ...]  # waiting, admitted, within the guarantee
    gpus_free: int  # left when every admitted job takes its smallest size


def admit(
    demands: Sequence[Demand], *, quotas: Mapping[str, TeamQuota], gpus: int, now: float
) -> Admission:
    """Decide who runs on `gpus` schedulable GPUs. `quotas` has an entry for every team.

    What a paused job leaves behind is given out at once, as if the job had never run: otherwise
    the next plan would differ from this one though nothing else has happened.
    """
    paused: list[Demand] = []
    while True:
        left = [demand for demand in demands if demand not in paused]
        admission = _admit(left, quotas=quotas, gpus=gpus, now=now)
        paused += admission.paused
        if not admission.paused:
            return replace(admission, paused=tuple(paused))


def _admit(
    demands: Sequence[Demand], *, quotas: Mapping[str, TeamQuota], gpus: int, now: float
) -> Admission:
    possible = [demand for demand in demands if demand.sizes]
    guaranteed = _within_guarantees(possible, quotas)
    ledger = _Ledger(gpus_free=gpus, gpus_open=gpus, quotas=quotas, guaranteed=guaranteed)
    for demand in demands:
        if not demand.sizes:  # it fits no way into the pool, or no longer
            ledger.give_up(demand)
    running = sorted((d for d in possible if d.is_active), key=_importance)
    waiting = sorted((d for d in possible if not d.is_active), key=_importance)
    for demand in running:
        ledger.gpus_by_team[demand.job.team] += demand.smallest_gpus
        if not demand.can_be_paused:
            ledger.admit(demand)
    ledger.admit_or_pause(d for d in running if d.can_be_paused and ledger.is_guaranteed(d))
    ledger.admit_or_queue(d for d in waiting if ledger.is_guaranteed(d))
    owed = tuple(d for d in ledger.admitted if not d.is_active)
    ledger.admit_or_pause(d for d in running if d.can_be_paused and not ledger.is_guaranteed(d))
    _lend(ledger, [d for d in waiting if not ledger.is_guaranteed(d)], now=now)
    return Admission(
        admitted=tuple(ledger.admitted),
        paused=tuple(ledger.paused),
        refused=dict(ledger.refused),
        guaranteed=guaranteed,
        owed=owed,
        gpus_free=max(ledger.gpus_free, 0),
    )


def promised_gpus(quota: TeamQuota) -> int:
    """The guarantee, as far as the team's own limit lets it be used."""
    limit = quota.limit_gpus
    return quota.guaranteed_gpus if limit is None else min(quota.guaranteed_gpus, limit)


def _within_guarantees(
    demands: Iterable[Demand], quotas: Mapping[str, TeamQuota]
) -> frozenset[str]:
    """Running jobs as far as they fit; waiting ones only beside all running jobs before them.

    A team whose running jobs use up its guarantee is owed nothing, even where they leave a hole
    that a small waiting job would fill: filling it would pause one of the team's own.
    """
    secured: defaultdict[str, int] = defaultdict(int)
    committed: defaultdict[str, int] = defaultdict(int)
    within: set[str] = set()
    for demand in sorted(demands, key=lambda d: (_protection(d), *_importance(d))):
        team = demand.job.team
        used = secured[team] if demand.is_active else committed[team]
        fits = used + demand.floor_gpus <= promised_gpus(quotas[team])
        if fits:
            within.add(demand.job.job_id)
            secured[team] += demand.floor_gpus
        if fits or demand.is_active:
            committed[team] += demand.floor_gpus
    return frozenset(within)


def _protection(demand: Demand) -> int:
    """Running jobs whose smallest size is protected use up the guarantee before all others."""
    if not demand.is_active:
        return 2
    order = {Preemptibility.NON_PREEMPTIBLE: 0, Preemptibility.SEMI_PREEMPTIBLE: 1}
    return order.get(demand.job.preemptibility, 2)


def _importance(demand: Demand) -> tuple[int, bool, float, float, str]:
    """Sort key, most important first. Among equals what runs goes on running, longest first.

    So a job that starts on what is left does not push an older one out of the guarantee.
    """
    job = demand.job
    started_at = (job.started_at or 0.0) if demand.is_active else 0.0
    return (-job.priority, not demand.is_active, started_at, job.submitted_at, job.job_id)


@dataclass(slots=True, kw_only=True)
class _Ledger:
    """What admission has given away so far, counted in smallest sizes."""

    gpus_free: int
    gpus_open: int  # on nodes that take new workers
    quotas: Mapping[str, TeamQuota]
    guaranteed: frozenset[str]
    admitted: list[Demand] = field(default_factory=list)
    paused: list[Demand] = field(default_factory=list)
    refused: dict[str, Refusal] = field(default_factory=dict)
    gpus_by_team: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def is_guaranteed(self, demand: Demand) -> bool:
        return demand.job.job_id in self.guaranteed

    def admit(self, demand: Demand) -> None:
        self.admitted.append(demand)
        self.gpus_free -= demand.smallest_gpus - demand.stuck_gpus
        if not demand.is_active:  # running jobs count for their team from the beginning
            self.gpus_by_team[demand.job.team] += demand.smallest_gpus

    def admit_or_pause(self, running: Iterable[Demand]) -> None:
        for demand in running:
            if demand.smallest_gpus - demand.stuck_gpus <= self.gpus_free:
                self.admit(demand)
            else:
                self.paused.append(demand)
                self.gpus_by_team[demand.job.team] -= demand.smallest_gpus

    def admit_or_queue(self, owed: Iterable[Demand]) -> None:
        for demand in owed:
            if (problem := self.limit_problem(demand)) is not None:
                self.refuse(demand, problem)
            elif demand.smallest_gpus <= self.gpus_free:
                self.admit(demand)
            elif demand.smallest_gpus > self.gpus_open:
                self.refuse(demand, Reason.WAITING_FOR_CAPACITY)
            else:
                self.refuse(demand, Reason.WAITING_FOR_RECLAIM)

    def give_up(self, demand: Demand) -> None:
        if demand.is_active:
            self.paused.append(demand)
        else:
            self.refused[demand.job.job_id] = Refusal(reason=Reason.EXCEEDS_LIMIT)

    def refuse(self, demand: Demand, reason: Reason, blocker: str | None = None) -> None:
        self.refused[demand.job.job_id] = Refusal(
            reason=reason,
            position=sum(r.position > 0 for r in self.refused.values()) + 1,
            blocker=blocker,
        )

    def borrowed_per_weight(self, team: str) -> float:
        quota = self.quotas[team]
        borrowed = max(self.gpus_by_team[team] - quota.guaranteed_gpus, 0)
        return borrowed / max(quota.over_quota_weight, 1e-9)

    def limit_problem(self, demand: Demand) -> Reason | None:
        """Whether the job's smallest size would break its team's limit, now or ever."""
        limit = self.quotas[demand.job.team].limit_gpus
        if limit is None or self.gpus_by_team[demand.job.team] + demand.smallest_gpus <= limit:
            return None
        return Reason.EXCEEDS_LIMIT if demand.smallest_gpus > limit else Reason.WAITING_FOR_QUOTA

    def may_be_lent_to(self, demand: Demand) -> bool:
        """What cannot be taken back may only be lent where nobody has a guarantee."""
        if demand.job.preemptibility is not Preemptibility.NON_PREEMPTIBLE:
            return True
        promised = sum(map(promised_gpus, self.quotas.values()))
        lent = sum(
            d.smallest_gpus
            for d in self.admitted
            if d.job.preemptibility is Preemptibility.NON_PREEMPTIBLE and not self.is_guaranteed(d)
        )
        return promised + lent + demand.smallest_gpus <= self.gpus_open


def _lend(ledger: _Ledger, waiting: list[Demand], *, now: float) -> None:
    """Admit borrowers one by one, each from the team that borrows least for its weight.

    Nothing is lent while somebody is owed GPUs, and nobody overtakes a job that has waited long
    and would fit into the pool: what is freed then adds up for it.
    """
    owed = next(
        (job for job, r in ledger.refused.items() if r.reason is Reason.WAITING_FOR_RECLAIM), None
    )
    blocker, blocking_reason = owed, Reason.WAITING_FOR_RECLAIM
    queue = list(waiting)
    while queue:
        demand = min(queue, key=lambda d: (ledger.borrowed_per_weight(d.job.team), _importance(d)))
        queue.remove(demand)
        if (problem := ledger.limit_problem(demand)) is not None:
            ledger.refuse(demand, problem)
        elif not ledger.may_be_lent_to(demand):
            ledger.refuse(demand, Reason.WAITING_FOR_QUOTA)
        elif blocker is not None:
            ledger.refuse(demand, blocking_reason, blocker)
        elif demand.smallest_gpus <= ledger.gpus_free:
            ledger.admit(demand)
        else:
            ledger.refuse(demand, Reason.WAITING_FOR_CAPACITY)
            has_waited_long = now - demand.job.submitted_at > RESERVATION_SECONDS
            if has_waited_long and demand.smallest_gpus <= ledger.gpus_open:
                blocker, blocking_reason = demand.job.job_id, Reason.BEHIND_HIGHER_PRIORITY
