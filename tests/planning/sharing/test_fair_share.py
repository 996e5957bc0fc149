"""Who may run, who gives way, who waits: the rules of sharing, one sentence each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.fair_share.lending import RESERVATION_SECONDS
from autoscaler.planning.fair_share.precedence import AGEING_SECONDS
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import JobPhase, ReclaimRules, TeamQuota
from autoscaler.planning.snapshot.vocabulary import Preemptibility, ReclaimTarget
from tests.campaigns import examples
from tests.planning.builders import NOW, applied, cluster, measured, running, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

SOME = examples(40)
FAIR = ReclaimRules(target=ReclaimTarget.FAIR_SHARE)
LINEAR = measured((1, 100.0), (2, 200.0), (4, 400.0), (8, 800.0))


def shared(
    *jobs: PlannedJob,
    gpus: int = 8,
    quotas: tuple[TeamQuota, ...] = (),
    reclaim: ReclaimRules | None = None,
    usage_weight: float = 0.0,
) -> ClusterState:
    state = cluster(*jobs, nodes=(gpus,), quotas={})
    pool = replace(state.pools[0], reclaim=reclaim or ReclaimRules(), usage_weight=usage_weight)
    return replace(state, pools=(pool,), quotas=quotas)


def quota(team: str, guaranteed: int = 0, limit: int | None = None, **more: Any) -> TeamQuota:
    return TeamQuota(
        team=team, pool="default", guaranteed_gpus=guaranteed, limit_gpus=limit, **more
    )


def many(team: str, count: int, **overrides: Any) -> list[PlannedJob]:
    """Waiting jobs of one GPU each."""
    values: dict[str, Any] = {"max_workers": 1, **overrides}
    return [waiting(f"{team}{i}", team, **values) for i in range(count)]


def gpus_by_team(state: ClusterState) -> dict[str, int]:
    teams = {job.job_id: job.team for job in state.jobs}
    held: dict[str, int] = dict.fromkeys(teams.values(), 0)
    for decision in plan(state).decisions:
        if decision.allocation is not None:
            held[teams[decision.job_id]] += decision.allocation.workers
    return held


def reasons(state: ClusterState) -> dict[str, JobReason]:
    return {decision.job_id: decision.reason for decision in plan(state).decisions}


BORROWER = running("a", 8, "vision", max_workers=8, measurements=LINEAR)
PAIR = (quota("vision"), quota("language"))


def test_with_target_guarantee_surplus_goes_where_it_is_worth_most() -> None:
    short = running("a", 2, "vision", max_workers=8, measurements=LINEAR, remaining_samples=100)
    long = running("b", 6, "language", max_workers=8, measurements=LINEAR)
    assert gpus_by_team(shared(short, long, quotas=PAIR))["vision"] > 4
    assert gpus_by_team(shared(short, long, quotas=PAIR, reclaim=FAIR)) == {
        "vision": 4,
        "language": 4,
    }


def test_with_target_fair_share_waiting_jobs_take_their_teams_share_from_borrowers() -> None:
    state = shared(BORROWER, *many("language", 8), quotas=PAIR, reclaim=FAIR)
    assert gpus_by_team(state) == {"vision": 4, "language": 4}


def test_with_target_fair_share_borrowed_jobs_are_paused_for_a_waiting_team() -> None:
    held = [running(f"a{i}", 1, "vision", max_workers=1) for i in range(8)]
    state = shared(*held, *many("language", 8), quotas=PAIR, reclaim=FAIR)
    assert gpus_by_team(state) == {"vision": 4, "language": 4}
    assert gpus_by_team(replace(state, pools=shared().pools)) == {"vision": 8, "language": 0}


def test_new_borrowers_do_not_squeeze_a_running_job_out_of_its_guarantee() -> None:
    owner = running("a", 4, "vision", max_workers=4, measurements=LINEAR)
    state = shared(owner, *many("language", 8), quotas=(quota("vision", 4), quota("language")))
    assert gpus_by_team(state) == {"vision": 4, "language": 4}


def test_weights_decide_who_borrows() -> None:
    quotas = (quota("vision", over_quota_weight=3.0), quota("language"))
    state = shared(*many("vision", 8), *many("language", 8), quotas=quotas)
    assert gpus_by_team(state) == {"vision": 6, "language": 2}


def test_usage_of_the_past_lowers_a_teams_share() -> None:
    quotas = (quota("vision", decayed_gpu_seconds=1e6), quota("language"))
    jobs = (*many("vision", 8), *many("language", 8))
    even = shared(*jobs, quotas=quotas, reclaim=FAIR)
    assert gpus_by_team(even) == {"vision": 4, "language": 4}
    weighed = shared(*jobs, quotas=quotas, reclaim=FAIR, usage_weight=1.0)
    assert gpus_by_team(weighed) == {"vision": 2, "language": 6}


def test_a_team_that_submits_in_bulk_is_charged_at_once() -> None:
    """Both may borrow; vision's jobs started a moment ago and have used next to nothing yet."""
    young = [
        running(f"v{i}", 1, "vision", max_workers=1, started_at=NOW - 1, remaining_samples=None)
        for i in range(4)
    ]
    old = [replace(job, attained_gpu_seconds=1e6) for job in young]
    jobs = (*many("vision", 4), *many("language", 2))
    quotas = (quota("vision", 4), quota("language"))

    def started(held: list[PlannedJob]) -> set[str]:
        state = shared(*held, *jobs, gpus=6, quotas=quotas, usage_weight=4.0)
        return {job for job, what in summary(plan(state)).items() if what == "start 1"}

    assert started(young) == {"language0", "language1"}
    assert started(old) == {"language0", "vision0"}


def test_idle_guarantees_are_lent_up_to_the_lending_limit() -> None:
    quotas = (quota("vision", 6, lending_limit_gpus=2), quota("language", 2))
    assert gpus_by_team(shared(*many("language", 8), quotas=quotas)) == {"language": 4}
    assert gpus_by_team(shared(*many("vision", 8), quotas=quotas)) == {"vision": 8}


def test_a_growing_borrower_respects_the_lending_limit_too() -> None:
    job = running("a", 2, "language", max_workers=8, measurements=LINEAR)
    quotas = (quota("vision", 6, lending_limit_gpus=2), quota("language", 2))
    assert gpus_by_team(shared(job, quotas=quotas)) == {"language": 4}


def test_a_siblings_idle_guarantee_goes_to_siblings_before_outsiders() -> None:
    quotas = (
        quota("research", 6),
        quota("vision", 3, parent="research"),
        quota("language", 3, parent="research"),
        quota("sales", 2),
    )
    state = shared(*many("language", 8), *many("sales", 8), quotas=quotas)
    assert gpus_by_team(state) == {"language": 6, "sales": 2}


def test_a_parents_limit_bounds_all_below_it() -> None:
    quotas = (
        quota("research", 2, 5),
        quota("vision", 1, parent="research"),
        quota("language", 1, parent="research"),
    )
    state = shared(*many("vision", 4), *many("language", 4), quotas=quotas)
    assert sum(gpus_by_team(state).values()) == 5
    grown = shared(running("a", 2, "vision", max_workers=8, measurements=LINEAR), quotas=quotas)
    assert gpus_by_team(grown) == {"vision": 5}


def test_a_claim_first_waits_for_gpus_that_become_free_by_themselves() -> None:
    quotas = (quota("vision"), quota("language", 4))
    young = waiting("b", "language", min_workers=2, submitted_at=NOW - 10)
    rules = ReclaimRules(delay_seconds=60)
    state = shared(BORROWER, young, quotas=quotas, reclaim=rules)
    assert summary(plan(state)) == {"a": "keep 8", "b": "wait"}
    assert reasons(state)["b"] is JobReason.WAITING_FOR_RECLAIM
    aged = replace(young, submitted_at=NOW - 61)
    later = shared(BORROWER, aged, quotas=quotas, reclaim=rules)
    assert summary(plan(later))["b"] == "start 2"
    idle = shared(young, quotas=quotas, reclaim=rules)
    assert summary(plan(idle)) == {"b": "start 2"}


def test_a_young_borrower_is_shrunk_but_not_paused() -> None:
    quotas = (quota("vision"), quota("language", 8))
    claim = waiting("b", "language", min_workers=8, max_workers=8)
    rules = ReclaimRules(min_runtime_seconds=600)
    young = replace(BORROWER, started_at=NOW - 100)
    state = shared(young, claim, quotas=quotas, reclaim=rules)
    assert summary(plan(state))["b"] == "wait"
    assert Action.PAUSE not in {decision.action for decision in plan(state).decisions}
    old = shared(replace(young, started_at=NOW - 700), claim, quotas=quotas, reclaim=rules)
    assert summary(plan(old)) == {"a": "pause", "b": "start 8"}
    smaller = replace(claim, min_workers=7, max_workers=7)
    shrunk = shared(young, smaller, quotas=quotas, reclaim=rules)
    assert summary(plan(shrunk)) == {"a": "rescale 1", "b": "start 7"}


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (Preemptibility.PREEMPTIBLE, "pause"),
        (Preemptibility.SEMI_PREEMPTIBLE, "keep 2"),
        (Preemptibility.NON_PREEMPTIBLE, "keep 2"),
    ],
)
def test_within_its_guarantee_only_a_preemptible_job_yields_to_its_own_team(
    kind: Preemptibility, what: str
) -> None:
    held = running("a", 2, "vision", min_workers=2, max_workers=2, preemptibility=kind)
    urgent = waiting("b", "vision", min_workers=2, priority=90)
    state = shared(held, urgent, gpus=2, quotas=(quota("vision", 2),))
    assert summary(plan(state))["a"] == what


def test_age_raises_a_claim_within_a_team() -> None:
    old = waiting("old", priority=10, max_workers=1, submitted_at=NOW - 41 * AGEING_SECONDS)
    new = waiting("new", priority=50, max_workers=1, submitted_at=NOW)
    assert summary(plan(shared(old, new, gpus=1))) == {"old": "start 1", "new": "wait"}
    younger = replace(old, submitted_at=NOW - 39 * AGEING_SECONDS)
    assert summary(plan(shared(younger, new, gpus=1))) == {"old": "wait", "new": "start 1"}


def test_age_raises_a_claim_between_borrowing_teams() -> None:
    held = running("a", 3, "vision", min_workers=3, max_workers=3)
    old = waiting("b", "vision", max_workers=1, submitted_at=NOW - 3 * AGEING_SECONDS)
    new = waiting("c", "language", max_workers=1, submitted_at=NOW)
    assert summary(plan(shared(held, old, new, gpus=4)))["b"] == "start 1"
    younger = replace(old, submitted_at=NOW - 100)
    assert summary(plan(shared(held, younger, new, gpus=4)))["c"] == "start 1"


def test_age_takes_nothing_from_a_running_job_of_the_same_priority() -> None:
    held = running("a", 1, "vision", max_workers=1, started_at=NOW - 10)
    old = waiting("b", "vision", submitted_at=NOW - 1000 * AGEING_SECONDS)
    state = shared(held, old, gpus=1, quotas=(quota("vision", 1),))
    assert summary(plan(state)) == {"a": "keep 1", "b": "wait"}


def test_a_guest_is_paused_when_the_job_it_stands_in_for_fits() -> None:
    since = NOW - RESERVATION_SECONDS - 100
    big = waiting("big", "vision", min_workers=4, submitted_at=since)
    guest = running("guest", 1, "vision", max_workers=1, submitted_at=NOW - 50, started_at=NOW - 50)
    other = running("other", 3, "vision", min_workers=3, max_workers=3)
    assert summary(plan(shared(other, big, guest, gpus=4)))["guest"] == "keep 1"
    state = shared(big, guest, gpus=4)
    assert summary(plan(state)) == {"big": "start 4", "guest": "pause"}
    assert summary(plan(applied(state, plan(state)))) == {"big": "keep 4", "guest": "wait"}


def test_who_ran_before_the_reservation_is_no_guest() -> None:
    big = waiting("big", "vision", min_workers=4, submitted_at=NOW - RESERVATION_SECONDS - 100)
    older = running("older", 1, "vision", max_workers=1)
    assert summary(plan(shared(big, older, gpus=4))) == {"big": "wait", "older": "keep 1"}


@pytest.mark.parametrize(
    ("target", "needed"), [(ReclaimTarget.GUARANTEE, 8), (ReclaimTarget.FAIR_SHARE, 4)]
)
def test_nobody_starves_under_constant_overload(target: ReclaimTarget, needed: int) -> None:
    """Three times the load the pool can carry, and one job as large as others' claims allow."""
    big = waiting("big", "vision", min_workers=needed, max_workers=needed, submitted_at=NOW)
    rules = ReclaimRules(target=target)
    quotas = (quota("vision"), quota("language"))
    state = shared(big, quotas=quotas, reclaim=rules)
    bound = RESERVATION_SECONDS + 2 * 120  # until it is reserved for, and two rounds of jobs
    for tick in range(0, int(bound), 10):
        now = NOW + tick
        fresh = [
            waiting(f"{team}{tick}", team, max_workers=1, submitted_at=now, remaining_samples=None)
            for team in ("vision", "language")
        ]
        alive = [job for job in state.jobs if not ended(job, now)]
        state = replace(state, now=now, jobs=(*alive, *fresh))
        state = applied(state, plan(state))
        if any(job.job_id == "big" and job.phase is JobPhase.ACTIVE for job in state.jobs):
            return
    pytest.fail(f"the big job did not start within {bound:.0f} s")


def ended(job: PlannedJob, now: float) -> bool:
    """Every small job runs for two minutes."""
    return job.running_since is not None and now - job.running_since >= 120


@SOME
@given(
    st.integers(0, 4),
    st.sampled_from(list(ReclaimTarget)),
    st.sampled_from((3, 4, 8, 64)),
    st.integers(1, 3),
)
def test_a_range_wider_than_a_job_can_use_never_gains(
    guaranteed: int, target: ReclaimTarget, stated: int, rivals: int
) -> None:
    """Vision's job is no faster beyond 2 workers, whatever it states."""
    curve = measured((1, 100.0), (2, 180.0), (3, 181.0), (4, 181.5), (8, 181.0))
    speed = {0: 0.0, 1: 100.0, 2: 180.0}

    def vision_speed(most: int) -> float:
        liar = running("a", 2, "vision", max_workers=most, measurements=curve)
        others = [
            running(f"b{i}", 2, "language", max_workers=8, measurements=LINEAR)
            for i in range(rivals)
        ]
        quotas = (quota("vision", guaranteed), quota("language", 8 - guaranteed))
        state = shared(liar, *others, quotas=quotas, reclaim=ReclaimRules(target=target))
        return speed[min(gpus_by_team(state)["vision"], 2)]

    assert vision_speed(stated) <= vision_speed(2)


def test_a_minimum_beyond_the_guarantee_gains_nothing_against_others() -> None:
    honest = waiting("a", "vision", min_workers=1)
    greedy = replace(honest, min_workers=6, max_workers=8)
    rivals = many("language", 4)
    quotas = (quota("vision", 4), quota("language", 4))
    assert summary(plan(shared(honest, *rivals, quotas=quotas)))["a"].startswith("start")
    assert summary(plan(shared(greedy, *rivals, quotas=quotas)))["a"] == "wait"


def test_a_semi_preemptible_borrower_does_not_push_its_own_team_out_of_the_guarantee() -> None:
    """The second job starts on an idle GPU of language's, and language claims it back."""
    quotas = (quota("vision", 2), quota("language", 1))
    first = running("a", 2, min_workers=2, max_workers=2)
    kind = Preemptibility.SEMI_PREEMPTIBLE
    second = waiting("b", max_workers=1, preemptibility=kind, submitted_at=NOW - 5000)
    alone = shared(first, second, gpus=3, quotas=quotas)
    assert summary(plan(alone)) == {"a": "keep 2", "b": "start 1"}
    claimed = replace(alone, jobs=(*applied(alone, plan(alone)).jobs, *many("language", 1)))
    assert summary(plan(claimed)) == {"a": "keep 2", "b": "pause", "language0": "start 1"}


def test_a_fair_share_is_not_claimed_from_what_an_idle_team_never_lends() -> None:
    """Speech holds more than its share for good, so language cannot get all of its own."""
    kind = Preemptibility.NON_PREEMPTIBLE
    held = running("a", 4, "speech", min_workers=4, max_workers=4, preemptibility=kind)
    claim = waiting("b", "language", min_workers=2)
    quotas = (quota("vision", 2, lending_limit_gpus=1),)
    state = shared(held, claim, gpus=6, quotas=quotas, reclaim=FAIR)
    assert summary(plan(state)) == {"a": "keep 4", "b": "wait"}
    smaller = replace(state, jobs=(*state.jobs, waiting("c", "language", max_workers=1)))
    assert summary(plan(smaller)) == {"a": "keep 4", "b": "wait", "c": "start 1"}
