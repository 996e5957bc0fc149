"""Which jobs choose among several pools, and in which order does each of them ask these?

One job after the other, in the order in which they would be planned: each counts with those before
it, so that a hundred equal jobs spread over their pools instead of all asking the best one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from autoscaler.planning.fair_share.precedence import rank
from autoscaler.planning.pool_choice.crowding import PoolCrowd
from autoscaler.planning.pool_choice.offers import in_order, offer_of, pools_of, use_of, uses_in
from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autoscaler.planning.decisions.pool_offer import PoolOffer
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.policies import Policy
    from autoscaler.planning.pool_choice.crowding import UsableGpus
    from autoscaler.planning.pool_choice.offers import PossiblePool
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

MOST_CHOOSING: Final = 200  # in a plan, guessed: about 50 ms; others stay where they are until then
_IN_TURN: Final = 50  # of them: others each time, so that no queue that stands keeps all behind it
_TURN_SECONDS: Final = 10.0  # guessed: a few ticks

_QUEUEING: Final = AdmissionVariant.QUEUEING

Wishes = dict[str, "Sequence[PoolOffer]"]
"""Of each job that chooses: what its pools are worth to it, best first."""


def is_choosing(job: PlannedJob) -> bool:
    """Tell whether the job waits and may be in several pools."""
    return job.phase is JobPhase.WAITING and bool(job.other_pools)


def wishes_of(
    state: ClusterState,
    demands: Mapping[str, Sequence[Demand]],
    policies: Mapping[str, Policy],
) -> Wishes:
    """Return them in the order in which jobs come; empty where no job has a choice.

    Args:
        state: as it was observed.
        demands: by pool: of the jobs that are in it.
        policies: by pool.
    """
    planned = {pool.name: pool for pool in state.pools}
    waiting = [one for of_pool in demands.values() for one in of_pool if not one.is_active]
    jobs = {job.job_id: job for job in state.jobs if is_choosing(job)}
    choosing = _those_to_choose(waiting, state.now)
    if not choosing:
        return {}
    crowds = _Crowds(state, demands)
    found: Wishes = {}
    for demand in sorted(waiting, key=rank):
        job = jobs.get(demand.job.job_id)
        if job is None or job.job_id not in choosing:
            crowds.stay(demand)
            continue
        possible = pools_of(job, planned, policies)
        if any(one.pool.name != job.pool for one in possible):
            found[job.job_id] = _wish(job, possible, crowds)
    return found


def not_to_be_dropped(
    state: ClusterState, demands: Mapping[str, Sequence[Demand]], wishes: Wishes
) -> frozenset[str]:
    """Return jobs that no pool may refuse for good: another one was not asked, and may take them.

    Their turn to choose has not come, or the other pool is not planned here, or it keeps a queue
    and has no room for any size of theirs now, say because its nodes are closed.
    """
    waiting = [one for of_pool in demands.values() for one in of_pool if not one.is_active]
    choosing = _those_to_choose(waiting, state.now)
    queueing = {pool.name: pool.admission is _QUEUEING for pool in state.pools}
    found = set()
    for job in filter(is_choosing, state.jobs):
        asked = {offer.pool for offer in wishes.get(job.job_id, ())}
        left = {one.name for one in job.other_pools} - asked
        if any(queueing.get(name, True) or job.job_id not in choosing for name in left):
            found.add(job.job_id)
    return frozenset(found)


def _wish(
    job: PlannedJob, possible: Sequence[PossiblePool], crowds: _Crowds
) -> Sequence[PoolOffer]:
    """Return its offers, best first, and count it in where it asks first."""
    uses = uses_in(possible)
    offers = [
        offer_of(
            one, use, crowds.of(one.pool.name), limit_gpus=crowds.left(one.pool.name, job.team)
        )
        for one, use in zip(possible, uses, strict=True)
    ]
    promised = [
        one.pool.name
        for one, use in zip(possible, uses, strict=True)
        if use.gpus[0] <= crowds.guaranteed(one.pool.name, job.team)
    ]
    ranked = in_order(offers, home=job.pool, promised=promised)
    if ranked[0].workers:
        number = offers.index(ranked[0])
        gpus = ranked[0].workers * job.gpus_per_worker
        crowds.add(uses[number], pool=ranked[0].pool, team=job.team, gpus=gpus)
    return ranked


class _Crowds:
    """How crowded each pool is by those that run and by those that come before."""

    def __init__(self, state: ClusterState, demands: Mapping[str, Sequence[Demand]]) -> None:
        self._crowds: dict[str, PoolCrowd] = {}
        self._held: Counter[tuple[str, str]] = Counter()  # GPUs, by pool and team
        self._limits = {(one.pool, one.team): one.limit_gpus for one in state.quotas}
        self._guaranteed = {(one.pool, one.team): one.guaranteed_gpus for one in state.quotas}
        for pool in state.pools:
            open_gpus = sum(node.gpus for node in pool.nodes if node.is_schedulable)
            self._crowds[pool.name] = PoolCrowd(open_gpus)
            for demand in demands[pool.name]:
                if demand.is_active:
                    self._held[pool.name, demand.job.team] += demand.held_gpus
                    self._count(demand)

    def of(self, pool: str) -> PoolCrowd:
        return self._crowds[pool]

    def left(self, pool: str, team: str) -> int | None:
        """Return how many GPUs more the team may have there; None: as many as there are."""
        limit = self._limits.get((pool, team))
        return None if limit is None else max(limit - self._held[pool, team], 0)

    def guaranteed(self, pool: str, team: str) -> int:
        """Return how many GPUs more the team may have there without borrowing."""
        return max(self._guaranteed.get((pool, team), 0) - self._held[pool, team], 0)

    def stay(self, demand: Demand) -> None:
        """Count in a job that waits where it is, if there is room for it."""
        use = use_of(demand)
        if use is not None and self._crowds[demand.job.pool].has_room_for(use):
            self._held[demand.job.pool, demand.job.team] += demand.smallest_gpus
            self._crowds[demand.job.pool].add(use)

    def add(self, use: UsableGpus, *, pool: str, team: str, gpus: int) -> None:
        self._held[pool, team] += gpus
        self._crowds[pool].add(use)

    def _count(self, demand: Demand) -> None:
        use = use_of(demand)
        if use is not None:
            self._crowds[demand.job.pool].add(use)


def _those_to_choose(waiting: Iterable[Demand], now: float) -> frozenset[str]:
    """Return the first to choose, of each team in turn: one team's long queue keeps nobody back.

    Of the rest some choose as well, others every few seconds.
    """
    of_team: Counter[str] = Counter()
    turns = []
    for demand in sorted((one for one in waiting if is_choosing(one.job)), key=rank):
        turns.append((of_team[demand.job.team], rank(demand), demand.job.job_id))
        of_team[demand.job.team] += 1
    in_order = [job_id for *_, job_id in sorted(turns)]
    if len(in_order) <= MOST_CHOOSING:
        return frozenset(in_order)
    first, rest = in_order[: MOST_CHOOSING - _IN_TURN], in_order[MOST_CHOOSING - _IN_TURN :]
    begins = int(now // _TURN_SECONDS) * _IN_TURN % len(rest)
    return frozenset([*first, *(rest[begins:] + rest[:begins])[:_IN_TURN]])
