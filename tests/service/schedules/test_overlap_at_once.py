"""Whatever happens at the same moment, a schedule does what it says last, and its overlap holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient
from schedules.models import CatchUp, Overlap, RunState, ScheduleRun
from schedules.rounds import recording, trying
from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.at_once import ask_at_once
from tests.service.conftest import spec
from tests.service.schedules.conftest import (
    PATH,
    AddSchedule,
    go,
    go_when_due,
    make_due,
    newest_run,
    when_due,
)
from tests.service.schedules.test_holders import logged_in, person

ONE = f"{PATH}/nightly"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.REPLACE])
def test_of_two_that_are_run_at_once_one_job_lives(
    add: AddSchedule, api: APIClient, overlap: Overlap
) -> None:
    add(overlap=overlap)

    def run() -> int:
        return api.post(f"{ONE}/run").status_code

    second = 409 if overlap == Overlap.SKIP else 201
    assert ask_at_once(run, run) == (201, second)
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_that_is_run_when_it_is_due_is_not_submitted_beside_it(
    add: AddSchedule, api: APIClient
) -> None:
    schedule = add()
    seen = schedule.next_at
    assert seen is not None
    recording.record(schedule.pk, seen, seen)
    ask_at_once(lambda: api.post(f"{ONE}/run").status_code, lambda: go(seen))
    assert Job.objects.count() == 1
    due = ScheduleRun.objects.get(schedule=schedule, asked_by="")
    assert due.state == RunState.SKIPPED


@pytest.fixture
def in_a_round(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have something done after a round has read what waits."""

    def have(done: Any) -> None:
        read = trying.waiting

        def then(*words: Any) -> Any:
            found = read(*words)
            done()
            return found

        monkeypatch.setattr(trying, "waiting", then)

    return have


def test_one_that_is_paused_during_a_round_submits_nothing(
    add: AddSchedule, api: APIClient, in_a_round: Any
) -> None:
    schedule = add()
    in_a_round(lambda: api.post(f"{ONE}/pause"))
    run = go_when_due(schedule)
    assert run.state == RunState.SKIPPED
    assert not Job.objects.exists()


def test_one_that_is_changed_during_a_round_submits_what_it_says_now(
    add: AddSchedule, vision: Team, in_a_round: Any
) -> None:
    schedule = add()
    lead = logged_in(person("lea", vision, role="lead"))
    body = {"spec": spec(name="other")}
    in_a_round(lambda: lead.patch(ONE, body, format="json", HTTP_IF_MATCH="1"))
    go_when_due(schedule)
    job = Job.objects.get()
    assert job.name.startswith("other-")
    assert job.submitted_by == "lea"


@pytest.mark.django_db(transaction=True)
def test_deleting_one_waits_for_its_submission(add: AddSchedule, api: APIClient) -> None:
    schedule = add()
    now = when_due(schedule)
    assert ask_at_once(lambda: go(now), lambda: api.delete(ONE).status_code) == (None, 204)
    assert Job.objects.count() == 1


def test_one_that_is_deleted_during_a_round_submits_nothing(
    add: AddSchedule, api: APIClient, in_a_round: Any
) -> None:
    schedule = add()
    in_a_round(lambda: api.delete(ONE))
    go(when_due(schedule))
    assert not Job.objects.exists()
    assert not ScheduleRun.objects.exists()


def test_an_earlier_time_that_is_tried_late_replaces_no_later_one(add: AddSchedule) -> None:
    schedule = add(overlap=Overlap.REPLACE, cron="*/5 * * * *")
    first = when_due(schedule)
    go(first)
    go(first + timedelta(minutes=5))
    early = ScheduleRun.objects.get(due_at=first - timedelta(seconds=1))
    Job.objects.filter(scheduled_for=early.due_at).delete()
    ScheduleRun.objects.filter(pk=early.pk).update(
        state=RunState.WAITING, jobs=[], job_count=0, attempts=4, ended_at=None
    )
    go(first + timedelta(minutes=6))
    early.refresh_from_db()
    assert early.state == RunState.SKIPPED
    assert "later" in early.message
    alive = Job.objects.get(state=JobState.QUEUED)
    assert alive.scheduled_for == early.due_at + timedelta(minutes=5)


def test_with_catch_up_none_what_was_recorded_and_waited_is_left_out_too(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = add(catch_up=CatchUp.NONE)
    now = when_due(schedule)
    with monkeypatch.context() as patched:
        patched.setattr(trying, "waiting", lambda *_: [])
        go(now)
    go(now + timedelta(hours=2))
    assert newest_run(schedule).state == RunState.MISSED
    assert not Job.objects.exists()


def test_what_was_due_already_is_submitted_though_its_times_are_changed(
    add: AddSchedule, api: APIClient
) -> None:
    schedule = add()
    overdue = timezone.now() - timedelta(seconds=5)
    make_due(schedule, overdue)
    answer = api.patch(ONE, {"cron": "0 3 * * *"}, format="json", HTTP_IF_MATCH="1")
    assert answer.status_code == 200
    go(timezone.now())
    schedule.refresh_from_db()
    assert newest_run(schedule).state == RunState.SUBMITTED
    assert schedule.next_at is not None
    assert schedule.next_at.hour == 3
