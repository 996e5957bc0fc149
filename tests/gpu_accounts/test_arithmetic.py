"""Does GPU time add up, whatever happens? And is it whose it should be?"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given

from autoscaler.gpu_accounts.arithmetic.history import HeldGpus, RecordedCapacity, TeamPromise
from autoscaler.gpu_accounts.arithmetic.hour import PoolHour, pool_hour
from autoscaler.gpu_accounts.arithmetic.job_times import JobTime
from autoscaler.gpu_accounts.arithmetic.pool_times import NOBODY, TeamTime
from autoscaler.gpu_accounts.arithmetic.promises import PastQuota, promises_in
from tests.campaigns import examples
from tests.gpu_accounts.histories import SINCE, UNTIL, PoolHistory, histories


def accounts(history: PoolHistory, *, since: int = SINCE, until: int = UNTIL) -> PoolHour:
    promises = list(promises_in(history.quotas, since=since, until=until))
    return pool_hour(history.held, promises, history.capacities, since=since, until=until)


def all_of_it(hour: PoolHour) -> int:
    held = sum(job.guaranteed + job.borrowed for job in hour.by_job.values())
    return held + sum(team.reserved + team.idle for team in hour.by_team.values())


def gpus_at(history: PoolHistory, moment: int) -> tuple[int, Counter[int], int]:
    """By looking at one moment: what there was, what each job held, and all of that."""
    capacity = sum(c.gpus for c in history.capacities if c.since <= moment < c.until)
    held: Counter[int] = Counter()
    for one in history.held:
        if one.since <= moment < one.until:
            held[one.job] += one.gpus
    return capacity, held, held.total()


@given(histories())
@examples(400)
def test_the_sum_over_jobs_is_the_sum_over_gpus_is_the_capacity(history: PoolHistory) -> None:
    hour = accounts(history)
    moments = [gpus_at(history, moment) for moment in range(SINCE, UNTIL)]
    by_job: Counter[int] = Counter()
    for _, held, _ in moments:
        by_job.update(held)
    found = {job: time.guaranteed + time.borrowed for (_, job), time in hour.by_job.items()}
    assert +Counter(found) == +by_job
    assert hour.capacity == all_of_it(hour) == sum(max(all_, held) for all_, _, held in moments)
    assert hour.excess == sum(max(held - all_, 0) for all_, _, held in moments)


@given(histories())
@examples(200)
def test_nothing_is_negative_and_nobody_lends_more_than_is_borrowed(history: PoolHistory) -> None:
    hour = accounts(history)
    for time in hour.by_job.values():
        held = time.guaranteed + time.borrowed
        assert 0 <= time.starting + time.stalled <= held
        assert min(time.guaranteed, time.borrowed, time.starting, time.stalled, time.lost) >= 0
    for team in hour.by_team.values():
        assert min(team.lent, team.reserved, team.idle) >= 0
    borrowed = sum(time.borrowed for time in hour.by_job.values())
    assert sum(team.lent for team in hour.by_team.values()) <= borrowed


@given(histories())
@examples(200)
def test_what_became_of_a_guarantee_adds_up_to_it_as_it_was(history: PoolHistory) -> None:
    hour = accounts(history)
    promises = list(promises_in(history.quotas, since=SINCE, until=UNTIL))
    promised_at: Counter[int] = Counter()
    promised_to: Counter[str] = Counter()
    for one in promises:
        promised_to[one.team] += one.guaranteed * (one.until - one.since)
        promised_at.update(dict.fromkeys(range(one.since, one.until), one.guaranteed))
    became = Counter(
        {team: one.lent + one.reserved + one.idle for team, one in hour.by_team.items()}
    )
    del became[NOBODY]
    for (team, _), time in hour.by_job.items():
        became[team] += time.guaranteed
    assert all(became[team] <= promised_to[team] for team in became)
    if all(promised_at[moment] <= gpus_at(history, moment)[0] for moment in range(SINCE, UNTIL)):
        assert +became == +promised_to


@given(histories())
@examples(200)
def test_what_is_divided_into_parts_has_the_same_sums(history: PoolHistory) -> None:
    """Hours of a day that a clock was set in add up as any others do."""
    borders = [SINCE, SINCE + 1, SINCE + 17, SINCE + 41, UNTIL]
    parts = [accounts(history, since=since, until=until) for since, until in pairwise(borders)]
    whole = accounts(history)
    assert whole.capacity == sum(part.capacity for part in parts)
    for key, time in whole.by_job.items():
        of_parts = [part.by_job[key] for part in parts if key in part.by_job]
        for name in ("guaranteed", "borrowed", "starting", "stalled", "lost"):
            assert getattr(time, name) == sum(getattr(one, name) for one in of_parts)


def held(team: str, job: int, gpus: int, **more: int) -> HeldGpus:
    return HeldGpus(**{"since": 0, "until": 100, "gpus": gpus, "team": team, "job": job, **more})


def promised(team: str, guaranteed: int, kept: int = 0) -> TeamPromise:
    return TeamPromise(since=0, until=100, team=team, guaranteed=guaranteed, kept=kept)


def hour_of(*recordings: HeldGpus | TeamPromise, gpus: int) -> PoolHour:
    return pool_hour(
        [one for one in recordings if isinstance(one, HeldGpus)],
        [one for one in recordings if isinstance(one, TeamPromise)],
        [RecordedCapacity(since=0, until=100, gpus=gpus)],
        since=0,
        until=100,
    )


def test_borrowers_use_what_nobody_is_promised_before_anybody_lends() -> None:
    hour = hour_of(promised("a", 2), promised("b", 4), held("a", 1, 5), gpus=8)
    assert hour.by_job["a", 1] == JobTime(guaranteed=200, borrowed=300)
    assert hour.by_team["b"] == TeamTime(lent=100, idle=300)
    assert hour.by_team[NOBODY] == TeamTime()


def test_what_a_team_does_not_lend_is_reserved_for_it() -> None:
    hour = hour_of(promised("b", 4, kept=3), held("a", 1, 3), gpus=6)
    assert hour.by_team["b"] == TeamTime(lent=100, reserved=300, idle=0)


def test_the_idlest_team_lends_first() -> None:
    hour = hour_of(promised("a", 3), promised("b", 1), held("c", 1, 2), gpus=4)
    assert (hour.by_team["a"].lent, hour.by_team["b"].lent) == (200, 0)


def test_the_most_important_job_uses_the_guarantee_first() -> None:
    jobs = held("a", 1, 3), held("a", 2, 3, priority=1)
    hour = hour_of(promised("a", 4), *jobs, gpus=8)
    assert hour.by_job["a", 2] == JobTime(guaranteed=300)
    assert hour.by_job["a", 1] == JobTime(guaranteed=100, borrowed=200)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (held("a", 1, 4, starting_gpus=1), JobTime(borrowed=400, starting=100)),
        (held("a", 1, 4, stall=10), JobTime(borrowed=400, stalled=40)),
        (held("a", 1, 4, starting_gpus=4, stall=10), JobTime(borrowed=400, starting=400)),
        (held("a", 1, 4, stall=1000), JobTime(borrowed=400, stalled=400)),
        (held("a", 1, 4, lost=70), JobTime(borrowed=400, lost=70)),
        (held("a", 1, 4, since=-50, stall=60, lost=70), JobTime(borrowed=400, stalled=40)),
    ],
)
def test_what_a_job_did_with_its_gpus(job: HeldGpus, expected: JobTime) -> None:
    assert hour_of(job, gpus=4).by_job["a", 1] == expected


def test_a_parent_is_promised_for_its_own_jobs_what_its_children_are_not() -> None:
    quotas = [
        PastQuota(since=0, until=100, team="lab", guaranteed=8, lending_limit=1),
        PastQuota(since=0, until=60, team="vision", parent="lab", guaranteed=5),
        PastQuota(since=60, until=100, team="vision", parent="lab", guaranteed=6, lending_limit=2),
    ]
    promises = set(promises_in(quotas, since=0, until=100))
    assert promises == {
        TeamPromise(since=0, until=60, team="lab", guaranteed=3, kept=2),
        TeamPromise(since=0, until=60, team="vision", guaranteed=5),
        TeamPromise(since=60, until=100, team="lab", guaranteed=2, kept=1),
        TeamPromise(since=60, until=100, team="vision", guaranteed=6, kept=4),
    }
