"""Are moves guarded? One of many wins, each leaves an event, and the table is obeyed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from cluster.models import Node, Pool
from django.db import connections, transaction
from tenancy.models import Team

from jobs.changes.transitions import IllegalMove, move
from jobs.lifecycle import FINAL, MOVES, JobState, is_legal
from jobs.models import Event, Generation, Job
from tests.service.conftest import generation, run


def test_final_states_are_left_by_no_move() -> None:
    assert all(not MOVES[state] for state in FINAL)


def test_every_state_that_is_not_final_leads_to_an_end() -> None:
    for start in set(JobState) - FINAL:
        reached = {start}
        for _ in JobState:
            reached |= {after for before in reached for after in MOVES[before]}
        assert reached & FINAL, start


@pytest.mark.parametrize(("old", "new"), list(product(JobState, JobState)))
def test_a_move_is_made_if_and_only_if_the_table_has_it(
    job: Job, old: JobState, new: JobState
) -> None:
    Job.objects.filter(pk=job.pk).update(state=old)
    if is_legal(old, new):
        assert move(job.id, {old}, new, reason="test")
    else:
        with pytest.raises(IllegalMove):
            move(job.id, {old}, new, reason="test")
    job.refresh_from_db()
    assert job.state == (new if is_legal(old, new) else old)


def test_a_move_from_a_state_the_job_has_left_changes_nothing(job: Job) -> None:
    assert not move(job.id, {JobState.PAUSED}, JobState.QUEUED, reason="test")
    job.refresh_from_db()
    assert job.reason == "pending_evaluation"
    assert not Event.objects.filter(job=job, kind="state_changed").exists()


def test_an_unknown_job_is_somebody_elses_success(db: None) -> None:
    assert not move("nothere", {JobState.QUEUED}, JobState.STARTING, reason="test")


def test_a_move_writes_its_event_and_the_columns_it_was_given(job: Job) -> None:
    assert move(
        job.id,
        {JobState.QUEUED, JobState.PAUSED},
        JobState.CANCELLED,
        reason="why",
        message="Because.",
        data={"n": 1},
        changes={"failures": 2},
    )
    job.refresh_from_db()
    assert (job.reason, job.message, job.failures) == ("why", "Because.", 2)
    assert job.finished_at is not None
    event = Event.objects.get(job=job, kind="state_changed")
    assert (event.old_state, event.new_state, event.data) == ("queued", "cancelled", {"n": 1})


def test_started_at_is_of_the_first_start(job: Job) -> None:
    move(job.id, {JobState.QUEUED}, JobState.STARTING, reason="first")
    job.refresh_from_db()
    first = job.started_at
    move(job.id, {JobState.STARTING}, JobState.QUEUED, reason="back")
    move(job.id, {JobState.QUEUED}, JobState.STARTING, reason="second")
    job.refresh_from_db()
    assert first is not None
    assert job.started_at == first


def test_a_job_without_workers_has_no_open_generation(job: Job) -> None:
    run(job, workers=1)
    generation(job, 1)
    move(job.id, {JobState.STARTING}, JobState.STOPPING, reason="pause")
    assert Generation.objects.get(job=job).ended_at is None
    move(job.id, {JobState.STOPPING}, JobState.PAUSED, reason="paused")
    assert Generation.objects.get(job=job).ended_at is not None


def test_a_move_that_is_rolled_back_leaves_no_event(job: Job) -> None:
    with transaction.atomic():
        assert move(job.id, {JobState.QUEUED}, JobState.CANCELLED, reason="test")
        transaction.set_rollback(True)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    assert not Event.objects.filter(job=job, kind="state_changed").exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_that_move_at_once_exactly_one_wins() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    job = Job.objects.create(
        team=Team.objects.create(name="vision"), pool=pool, name="a", spec={}, resolved_spec={}
    )

    def attempt(number: int) -> bool:
        try:
            return move(job.id, {JobState.QUEUED}, JobState.STARTING, reason=f"by-{number}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(attempt, range(8)))
    assert won.count(True) == 1
    job.refresh_from_db()
    assert job.reason == f"by-{won.index(True)}"
    assert Event.objects.filter(job=job).count() == 1
