"""Is it known what teams were owed, and what of it was not given, whatever happens?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.gpu_accounts.arithmetic.owed import (
    MOST_JOBS,
    OwedStretch,
    OwedTime,
    WaitingJob,
    owed,
    owed_time,
)
from autoscaler.gpu_accounts.arithmetic.shortfall_causes import ShortfallCause, cause_of
from autoscaler.job_vocabulary import WAITING_OUTSIDE, JobReason
from tests.campaigns import examples

Case = tuple[int, int, list[int], int, int]  # guaranteed, held, waiting; owed, missing of it

CASES: dict[str, Case] = {
    "a team without work is owed nothing": (8, 0, [], 0, 0),
    "a team without a guarantee is owed nothing": (0, 0, [4], 0, 0),
    "what jobs hold of a guarantee was given": (8, 5, [], 5, 0),
    "a job that fits beside what is held is owed its fewest workers": (8, 5, [2], 7, 2),
    "a job that is larger than the rest of the guarantee is not owed anything": (8, 6, [4], 6, 0),
    "a smaller one behind it is": (8, 6, [4, 2], 8, 2),
    "of many jobs no more than the guarantee is owed": (8, 0, [3, 3, 3], 6, 6),
    "who borrows has all that it is owed": (8, 11, [2], 8, 0),
    "a job that needs no GPU is not owed any": (8, 0, [0], 0, 0),
}


@pytest.mark.parametrize(("sentence"), CASES)
def test_what_a_team_is_owed(sentence: str) -> None:
    guaranteed, held, sizes, all_of_it, missing = CASES[sentence]
    waiting = [WaitingJob(job=f"j{n}", gpus=size, cause="x") for n, size in enumerate(sizes)]
    found = owed(guaranteed, held, waiting)
    assert (found.gpus, found.missing_gpus) == (all_of_it, missing)


Why = tuple[JobReason | None, bool, int, ShortfallCause]  # reason, starts, open of 8 promised

WHYS: dict[str, Why] = {
    "others are giving back": (JobReason.WAITING_FOR_RECLAIM, False, 8, ShortfallCause.RECLAIM),
    "a node was lost": (JobReason.WAITING_FOR_CAPACITY, False, 4, ShortfallCause.NODES_LOST),
    "so many were lost that it fits nowhere": (
        *(JobReason.EXCEEDS_LIMIT, False, 4, ShortfallCause.NODES_LOST),
    ),
    "others keep what they hold": (
        *(JobReason.WAITING_FOR_CAPACITY, False, 8, ShortfallCause.NOT_GIVEN_BACK),
    ),
    "free GPUs are scattered": (JobReason.FRAGMENTED, False, 8, ShortfallCause.FRAGMENTED),
    "its own limit": (JobReason.TEAM_JOB_LIMIT, False, 4, ShortfallCause.OWN_LIMITS),
    "its budget": (JobReason.TEAM_BUDGET_USED_UP, False, 8, ShortfallCause.BUDGET),
    "its data is on the way": (JobReason.PREPARING, False, 8, ShortfallCause.PREPARING),
    "another job is first": (JobReason.BEHIND_HIGHER_PRIORITY, False, 8, ShortfallCause.OWN_ORDER),
    "it is about to start": (JobReason.JOB_ARRIVED, True, 8, ShortfallCause.STARTING),
    "it starts once others have given back": (
        *(JobReason.RECLAIM_GUARANTEE, True, 8, ShortfallCause.RECLAIM),
    ),
    "it starts once guests have left what is kept for it": (
        *(JobReason.RESERVATION, True, 8, ShortfallCause.RECLAIM),
    ),
    "nobody decided": (None, False, 8, ShortfallCause.NOT_PLANNED),
}


@pytest.mark.parametrize("sentence", WHYS)
def test_why_it_was_not_given(sentence: str) -> None:
    reason, starts, open_gpus, cause = WHYS[sentence]
    assert cause_of(reason, starts=starts, open_gpus=open_gpus, promised=8) == cause


@pytest.mark.parametrize("reason", sorted(WAITING_OUTSIDE - {JobReason.WAITING_FOR_JOBS}))
def test_what_jobs_wait_for_beside_gpus_is_never_blamed_on_others(reason: JobReason) -> None:
    found = cause_of(reason, starts=False, open_gpus=0, promised=8)
    assert found in {ShortfallCause.OWN_LIMITS, ShortfallCause.BUDGET, ShortfallCause.PREPARING}


WAITING = st.lists(
    st.builds(
        WaitingJob,
        job=st.text("abc", min_size=1, max_size=2),
        gpus=st.integers(0, 9),
        cause=st.sampled_from(list(ShortfallCause)),
    ),
    max_size=40,
)


@given(st.integers(0, 64), st.integers(0, 80), WAITING)
@examples(300)
def test_causes_add_up_to_what_was_owed_and_not_held(
    guaranteed: int, held: int, waiting: list[WaitingJob]
) -> None:
    found = owed(guaranteed, held, waiting)
    assert found.gpus - min(held, guaranteed) == found.missing_gpus
    assert 0 <= found.gpus <= guaranteed
    assert all(one.gpus > 0 and 0 < len(one.jobs) <= MOST_JOBS for one in found.missing.values())


@st.composite
def spans(draw: st.DrawFn) -> list[OwedStretch]:
    """Times of one team, one after the other, with gaps in which it had no work."""
    found, at = [], 0
    for _ in range(draw(st.integers(0, 8))):
        since = at + draw(st.integers(0, 5))
        at = since + draw(st.integers(0, 5))  # 0: the clock stood still
        missing = draw(st.dictionaries(st.sampled_from("abc"), st.integers(1, 8), max_size=3))
        found.append(OwedStretch(since=since, until=at, missing_gpus=missing))
    return found


@given(spans(), st.integers(0, 60))
@examples(300)
def test_hours_add_up_to_what_each_moment_tells_wherever_they_are_divided(
    history: list[OwedStretch], cut: int
) -> None:
    whole = owed_time(history, since=0, until=100)
    holding = [one for at in range(100) for one in history if one.since <= at < one.until]
    assert whole.working == len(holding)
    assert whole.given == sum(not one.missing_gpus for one in holding)
    assert whole.missing.total() == sum(sum(one.missing_gpus.values()) for one in holding)
    first, second = (
        owed_time(history, since=0, until=cut),
        owed_time(history, since=cut, until=100),
    )
    added = OwedTime(
        working=first.working + second.working,
        given=first.given + second.given,
        missing=first.missing + second.missing,
    )
    assert added == whole
