"""In which of its pools a job starts: by what it is worth there, and by what the pools answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.decisions.pool_offer import PoolAnswer
from autoscaler.planning.planner import plan
from autoscaler.planning.pool_choice.wishes import MOST_CHOOSING
from autoscaler.planning.snapshot.cluster_state import (
    ClusterState,
    OtherPool,
    PlannedJob,
    PlannedNode,
    PlannedPool,
    ReclaimRules,
    TeamQuota,
)
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from tests.planning.builders import NOW, SCALES_WELL, learned, measured, running, waiting

if TYPE_CHECKING:
    from autoscaler.planning.decisions.plan import Decision, Plan
    from autoscaler.planning.decisions.pool_offer import PoolOffer
    from autoscaler.planning.snapshot.cluster_state import StepTime

TWICE_AS_FAST = measured((1, 200.0), (2, 380.0), (4, 700.0))
NOT_MEASURED: tuple[StepTime, ...] = ()


def choosing(
    name: str,
    *,
    here: tuple[StepTime, ...] = NOT_MEASURED,
    there: tuple[StepTime, ...] = NOT_MEASURED,
    **overrides: Any,
) -> PlannedJob:
    """A job that is in pool a100 and may be in h100, with what was measured of it in each."""
    job = waiting(name, **({"pool": "a100", "remaining_samples": 10**6} | overrides))
    known = learned(job, there).scaling if there else None
    job = learned(job, here) if here else job
    return replace(job, other_pools=(OtherPool(name="h100", batch=job.batch, scaling=known),))


def pools(
    *jobs: PlannedJob,
    a100: int = 4,
    h100: int = 4,
    dollars: tuple[float, float] = (0.0, 0.0),
    quotas: tuple[TeamQuota, ...] = (),
    delay_seconds: float = 0.0,
) -> ClusterState:
    sizes = {"a100": (a100, dollars[0]), "h100": (h100, dollars[1])}
    return ClusterState(
        now=NOW,
        pools=tuple(
            PlannedPool(
                name=name,
                gpu_type=name,
                nodes=(PlannedNode(name=f"{name}-1", gpus=gpus),) if gpus else (),
                dollars_per_gpu_hour=price,
                reclaim=ReclaimRules(delay_seconds=delay_seconds),
            )
            for name, (gpus, price) in sizes.items()
        ),
        quotas=quotas,
        jobs=jobs,
    )


def planned(state: ClusterState) -> Plan:
    made = plan(state)
    assert check(state, made) == ()
    return made


def decision(made: Plan, job_id: str) -> Decision:
    return next(one for one in made.decisions if one.job_id == job_id)


def place(made: Plan, job_id: str) -> tuple[Action, str]:
    """What becomes of a job that is in a100 so far, and in which pool."""
    one = decision(made, job_id)
    return one.action, one.pool or "a100"


def offers(made: Plan, job_id: str) -> dict[str, PoolOffer]:
    return {one.pool: one for one in made.explanations[job_id].pools}  # type: ignore[union-attr]


def in_a100(name: str, workers: int, **overrides: Any) -> PlannedJob:
    where = {"pool": "a100", "on": (("a100-1", workers),)}
    return running(name, workers, **(where | overrides))


def in_h100(name: str, workers: int, **overrides: Any) -> PlannedJob:
    where = {"pool": "h100", "on": (("h100-1", workers),)}
    return running(name, workers, **(where | overrides))


PINNED = {"can_rescale": False}

CASES: dict[str, tuple[ClusterState, tuple[Action, str]]] = {
    "it starts where it is, if both are alike": (
        pools(choosing("it", here=SCALES_WELL, there=SCALES_WELL)),
        (Action.START, "a100"),
    ),
    "it starts where it is faster": (
        pools(choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST)),
        (Action.START, "h100"),
    ),
    "what was never measured counts as equally fast": (
        pools(choosing("it", here=SCALES_WELL)),
        (Action.START, "a100"),
    ),
    "a job of which nothing is known starts where it can have more": (
        pools(choosing("it"), in_a100("other", 3, **PINNED)),
        (Action.START, "h100"),
    ),
    "four slow GPUs are more than one fast one": (
        pools(
            choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST),
            in_h100("other", 3, **PINNED),
        ),
        (Action.START, "a100"),
    ),
    "it does not start where others lose more than it wins": (
        pools(
            choosing("it", here=SCALES_WELL, there=SCALES_WELL, pool="a100", max_workers=2),
            in_a100("other", 4),
        ),
        (Action.START, "h100"),
    ),
    "of equally good pools it takes the cheaper one": (
        pools(choosing("it", here=SCALES_WELL, there=SCALES_WELL), dollars=(4.0, 2.0)),
        (Action.START, "h100"),
    ),
    "a little cheaper is not worth a move": (
        pools(choosing("it", here=SCALES_WELL, there=SCALES_WELL), dollars=(4.0, 3.9)),
        (Action.START, "a100"),
    ),
    "it starts in the slower pool where the faster one is full": (
        pools(
            choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST),
            in_h100("other", 4, **PINNED),
        ),
        (Action.START, "a100"),
    ),
    "it waits where it is, if both are full": (
        pools(
            choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST),
            in_a100("one", 4, **PINNED),
            in_h100("other", 4, **PINNED),
        ),
        (Action.WAIT, "a100"),
    ),
    "it starts where its team's limit lets it": (
        pools(
            choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST),
            quotas=(TeamQuota(team="vision", pool="h100", guaranteed_gpus=0, limit_gpus=0),),
        ),
        (Action.START, "a100"),
    ),
    "it waits for its team's guarantee where that is": (
        pools(
            choosing("it", here=SCALES_WELL, there=SCALES_WELL),
            in_a100("one", 4, **PINNED),
            in_h100("other", 4, team="language", min_workers=4),
            quotas=(TeamQuota(team="vision", pool="h100", guaranteed_gpus=4),),
            delay_seconds=60.0,
        ),
        (Action.WAIT, "h100"),
    ),
    "of pools that are alike it uses what its team is guaranteed, and borrows nothing": (
        pools(
            choosing("it", here=SCALES_WELL, there=SCALES_WELL),
            dollars=(1.0, 2.0),
            quotas=(
                TeamQuota(team="vision", pool="h100", guaranteed_gpus=2),
                TeamQuota(team="language", pool="a100", guaranteed_gpus=4),
            ),
        ),
        (Action.START, "h100"),
    ),
    "what is guaranteed and held already draws nobody": (
        pools(
            choosing("it", here=SCALES_WELL, there=SCALES_WELL),
            in_h100("other", 2, **PINNED),
            quotas=(TeamQuota(team="vision", pool="h100", guaranteed_gpus=2),),
        ),
        (Action.START, "a100"),
    ),
    "a pool without nodes takes nobody": (
        pools(choosing("it", there=TWICE_AS_FAST), h100=0),
        (Action.START, "a100"),
    ),
    "it leaves a pool in which it could never start": (
        pools(choosing("it", min_workers=3), in_h100("other", 4, **PINNED), a100=2),
        (Action.WAIT, "h100"),
    ),
}


@pytest.mark.parametrize(("state", "wanted"), CASES.values(), ids=CASES)
def test_a_job_starts_where_it_is_worth_most(
    state: ClusterState, wanted: tuple[Action, str]
) -> None:
    assert place(planned(state), "it") == wanted


def test_equal_jobs_spread_over_equal_pools() -> None:
    jobs = [choosing(f"job{n}", here=SCALES_WELL, there=SCALES_WELL) for n in range(8)]
    made = planned(pools(*jobs))
    places = [place(made, job.job_id) for job in jobs]
    assert places.count((Action.START, "a100")) == places.count((Action.START, "h100")) == 4


def test_a_job_that_another_one_displaces_asks_its_next_pool() -> None:
    """Both want the one GPU of h100; the one with the higher priority may only be there."""
    first = choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST)
    second = waiting("other", pool="h100", priority=90, measurements=TWICE_AS_FAST)
    made = planned(pools(first, second, h100=1))
    assert place(made, "it") == (Action.START, "a100")
    assert decision(made, "other").action is Action.START


def test_a_job_that_runs_stays_in_its_pool() -> None:
    job = replace(
        in_a100("it", 1),
        other_pools=choosing("x", there=TWICE_AS_FAST).other_pools,
    )
    made = planned(pools(job))
    assert decision(made, "it").pool is None
    assert {node for node, _ in decision(made, "it").allocation.workers_by_node} == {"a100-1"}  # type: ignore[union-attr]


def test_its_explanation_says_what_each_pool_offered_and_answered() -> None:
    made = planned(
        pools(
            choosing("it", here=SCALES_WELL, there=TWICE_AS_FAST),
            waiting("first", pool="h100", priority=90, min_workers=4),
        )
    )
    found = offers(made, "it")
    assert found["a100"].is_chosen
    assert found["a100"].answer is PoolAnswer.STARTS
    assert found["a100"].speed == pytest.approx(3.5, rel=0.1)
    assert found["a100"].is_measured
    assert not found["h100"].is_chosen
    assert found["h100"].answer in {PoolAnswer.WAITS, PoolAnswer.NOT_ASKED}
    assert found["h100"].workers == 0


def test_what_is_told_of_pools_does_not_move_with_each_report() -> None:
    """Else it would be written anew, of each job that chooses, in each tick."""

    def told(rate: float) -> object:
        jobs = choosing("it", min_workers=3), in_a100("one", 4), in_h100("other", 4)
        slower = [learned(job, measured((1, rate), (2, 190.0), (4, 350.0))) for job in jobs[1:]]
        return planned(pools(jobs[0], *slower)).explanations["it"].pools  # type: ignore[union-attr]

    assert told(100.0) == told(100.3)


def test_a_job_of_one_pool_is_told_of_none() -> None:
    made = planned(pools(waiting("it", pool="a100")))
    assert made.explanations["it"].pools == ()  # type: ignore[union-attr]


def test_where_it_waits_it_stays_while_what_is_measured_moves_a_little() -> None:
    """It was put into h100 once; there it stays, though a100 looks a little better now."""
    for rate in (190.0, 195.0, 200.0, 205.0, 210.0):
        job = choosing("it", here=measured((1, 200.0)), there=measured((1, rate)), max_workers=1)
        made = planned(pools(job.in_pool("h100")))
        assert decision(made, "it").pool is None


def dropping(state: ClusterState, *names: str) -> ClusterState:
    """The same pools, of which these refuse what does not fit for good."""
    found = (
        replace(pool, admission=AdmissionVariant.DROPPING) if pool.name in names else pool
        for pool in state.pools
    )
    return replace(state, pools=tuple(found))


def full(*jobs: PlannedJob, **settings: Any) -> ClusterState:
    """Pools whose GPUs nobody gives back."""
    whole = {"min_workers": 4, **PINNED}
    ones = in_a100("one", 4, **whole), in_h100("other", 4, **whole)
    return pools(*jobs, *ones, **settings)


def test_who_does_not_fit_in_a_pool_that_keeps_no_queue_waits_in_one_that_does() -> None:
    made = planned(dropping(full(choosing("it")), "a100"))
    assert place(made, "it") == (Action.WAIT, "h100")
    assert place(planned(dropping(full(choosing("it")), "h100")), "it") == (Action.WAIT, "a100")


def test_whom_all_of_its_pools_refuse_is_refused() -> None:
    made = planned(dropping(full(choosing("it")), "a100", "h100"))
    assert decision(made, "it").action is Action.DROP


def test_nobody_is_refused_for_good_before_it_could_ask_its_other_pools() -> None:
    jobs = [choosing(f"job{n:03}", submitted_at=NOW - 500.0 + n) for n in range(MOST_CHOOSING + 3)]
    made = planned(dropping(full(*jobs), "a100"))
    assert not [one for one in made.decisions if one.action is Action.DROP]
    refused = planned(dropping(full(*jobs), "a100", "h100"))
    assert [one.action for one in refused.decisions].count(Action.WAIT) == 3


def test_nobody_is_refused_for_good_while_its_pool_with_a_queue_is_closed() -> None:
    state = dropping(full(choosing("it")), "a100")
    closed = (PlannedNode(name="h100-1", gpus=4, is_schedulable=False),)
    shut = tuple(replace(p, nodes=closed) if p.name == "h100" else p for p in state.pools)
    assert decision(planned(replace(state, pools=shut)), "it").action is Action.WAIT


def test_nobody_is_refused_for_good_where_one_pool_is_planned_alone() -> None:
    """As where the plan of all failed."""
    state = dropping(full(choosing("it")), "a100")
    alone = replace(state, pools=state.pools[:1])
    assert decision(plan(alone), "it").action is Action.WAIT


def test_behind_a_queue_that_stands_everybody_gets_a_turn_to_choose() -> None:
    """All but the last want more than is free; it waits in a full pool, and one GPU is free."""
    large = [
        choosing(f"job{n:03}", min_workers=4, submitted_at=NOW - 999.0 + n) for n in range(320)
    ]
    last = choosing("last", max_workers=1, submitted_at=NOW - 1.0)
    state = pools(*large, last, in_a100("one", 4, **PINNED), in_h100("other", 3, **PINNED))
    later = (replace(state, now=NOW + 10.0 * turn) for turn in range(4))
    assert (Action.START, "h100") in [place(planned(one), "last") for one in later]
