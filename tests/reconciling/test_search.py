"""Is every promise kept in whatever order things happen, and would a broken one be noticed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autoscaler.reconciling import table
from autoscaler.reconciling.instructions import NOTHING, Finish, ReleaseWorker, SeatNextSet
from autoscaler.reconciling.rules.ending import settling, stopping
from autoscaler.reconciling.rules.failures import release
from autoscaler.reconciling.rules.starting import launching, restart_mode
from tests import campaigns
from tests.reconciling.search import PromiseBroken, searched, training, wandered
from tests.reconciling.small_world import beginning

if TYPE_CHECKING:
    from collections.abc import Callable

    from autoscaler.reconciling.instructions import Instructions
    from autoscaler.reconciling.snapshot import JobSnapshot
    from autoscaler.reconciling.table import Rule
    from tests.reconciling.small_world import World

DEPTH = 5 if campaigns.are_whole() else 2
STORIES = campaigns.rounds(60)
HAPPENINGS = 15  # of each story
FIRST = [beginning, training]


def test_the_search_begins_where_both_jobs_train() -> None:
    rows = training().rows.values()
    assert [(row.job.state, len(row.job.live)) for row in rows] == [("running", 2), ("running", 1)]


@pytest.mark.timeout(1800)  # the whole campaign takes minutes
@pytest.mark.parametrize("first", FIRST)
def test_every_promise_is_kept_whatever_happens(first: Callable[[], World]) -> None:
    counts = searched(first(), DEPTH)
    found = f"{first.__name__}: {counts.total()} worlds up to depth {DEPTH}, {dict(counts)}"
    print(found)  # noqa: T201 - `pytest -s` shows it
    assert counts[DEPTH] > 7**DEPTH  # far from all worlds that are reached are reached twice


@pytest.mark.parametrize("first", FIRST)
def test_every_promise_is_kept_in_long_stories(first: Callable[[], World]) -> None:
    stories = {wandered(first(), HAPPENINGS, seed) for seed in range(STORIES)}
    assert len(stories) == STORIES


def without(_: JobSnapshot) -> Instructions:
    return NOTHING


def free_what_is_not_wanted(job: JobSnapshot) -> Instructions:
    left = [one for one in job.live if one.id not in job.wanted and one.is_running]
    early = tuple(ReleaseWorker(worker=one.id, gone_at=job.context.now) for one in left)
    return early or release.release_ended_workers(job)


def seat_at_once(job: JobSnapshot) -> Instructions:
    return (SeatNextSet(),) if job.is_between_sets else NOTHING


def finish_at_once(_: JobSnapshot) -> Instructions:
    return (Finish(),)


BROKEN: dict[str, tuple[Rule, Rule, str]] = {
    "GPUs become free while a process is still on them": (
        release.release_ended_workers,
        free_what_is_not_wanted,
        "n2 runs 2",
    ),
    "the next set sits down before the last one has gone": (
        restart_mode.seat_next_set,
        seat_at_once,
        "GPUs, of which",
    ),
    "a job is over while it has workers": (stopping.finish, finish_at_once, "has workers"),
    "nobody asks workers to end": (stopping.stop_workers, without, "is rescaling"),
    "nobody starts what is on record": (launching.start_missing, without, "is starting"),
    "nobody draws a conclusion from how workers ended": (settling.settle, without, "is running"),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda name: name.replace(" ", "_"))
def test_a_broken_rule_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, instead, seen = BROKEN[broken]
    rules = {
        key: tuple(instead if one is rule else one for one in whole)
        for key, whole in table.RULES.items()
    }
    monkeypatch.setattr(table, "RULES", rules)
    with pytest.raises(PromiseBroken, match=seen):
        searched(training(), 2)
