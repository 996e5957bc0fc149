"""What is due is submitted once, by the ordinary submission, whatever happens meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Pool
from control_plane.queries.pool_capacities import read_pools
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from schedules.models import CatchUp, Overlap, RunState, ScheduleRun, TeamSchedule
from schedules.rounds import endings, one_round, recording, trying
from tenancy.access.keys import tokens
from tenancy.models import Team
from webhooks.models import WebhookDelivery

from jobs.commands import submission
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import client_of, spec
from tests.service.schedules.conftest import (
    AddSchedule,
    add_by,
    go,
    go_when_due,
    make_due,
    newest_run,
    when_due,
)
from tests.service.webhooks.conftest import add as add_webhook

STATEMENTS_WHERE_NOTHING_IS_DUE = 2
STATEMENTS_OF_A_ROUND = 3
STATEMENTS_OF_ONE = 18  # of which the submission itself takes ten


class Killed(BaseException):
    """The process ends here."""


def test_a_job_is_submitted_when_the_schedule_is_due_and_names_it(add: AddSchedule) -> None:
    schedule = add()
    go(when_due(schedule, after=-timedelta(seconds=1)))
    assert not Job.objects.exists()
    due_at = schedule.next_at
    run = go_when_due(schedule)
    (job,) = Job.objects.all()
    assert (job.schedule, job.schedule_name, job.scheduled_for) == (schedule.id, "nightly", due_at)
    assert due_at is not None
    assert job.name == f"digits-{due_at:%Y%m%dT%H%M}Z"
    assert job.submitted_by == "vision/ci"
    assert (run.state, run.jobs, run.job_count) == (RunState.SUBMITTED, [[job.id, job.name]], 1)
    schedule.refresh_from_db()
    assert schedule.next_at == due_at + timedelta(days=1)
    go(due_at + timedelta(minutes=1))
    assert Job.objects.count() == 1


def test_an_array_is_submitted_whole(add: AddSchedule) -> None:
    trials = spec(env={"LR": "{{lr}}"}, array={"parameters": {"lr": [0.1, 0.2]}})
    run = go_when_due(add(spec=trials))
    assert run.job_count == Job.objects.exclude(array=None).count() == 2


@pytest.mark.parametrize(
    "place",
    [
        "trying.waiting",  # recorded, and nothing else
        "trying._submit",  # it is known that it is tried
        "submitting.submit_for",
        "endings.submitted",  # submitted, and nobody came to say so
    ],
)
def test_who_dies_between_recording_and_submitting_loses_nothing_and_doubles_nothing(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    schedule = add()
    now = when_due(schedule)
    module, name = place.split(".")
    with monkeypatch.context() as patched:
        of = {"trying": trying, "endings": endings, "submitting": trying.submitting}[module]

        def die(*_: Any, **__: Any) -> None:
            raise Killed

        patched.setattr(of, name, die)
        with pytest.raises(Killed):
            go(now)
    assert newest_run(schedule).state == RunState.WAITING
    go(now + timedelta(minutes=1))
    go(now + timedelta(minutes=5))
    assert Job.objects.count() == 1
    assert newest_run(schedule).state == RunState.SUBMITTED
    assert ScheduleRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_who_dies_while_it_is_recorded_has_recorded_nothing(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = add()
    now = when_due(schedule)
    with monkeypatch.context() as patched:

        def die(*_: Any) -> None:
            ScheduleRun.objects.create(schedule=schedule, due_at=now, try_at=now)
            raise Killed

        patched.setattr(recording, "_write", die)
        with pytest.raises(Killed):
            go(now)
    assert not ScheduleRun.objects.exists()
    go(now)
    assert Job.objects.count() == 1


def test_it_is_not_submitted_twice_where_the_jobs_commit_was_not_seen(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The idempotency key stands for the time that was due, even if the spec changes meanwhile."""
    schedule = add(overlap="allow")
    due_at = schedule.next_at
    assert due_at is not None
    monkeypatch.setattr(trying.submitting, "made_for", lambda *_: ())
    go(due_at)
    ScheduleRun.objects.update(state=RunState.WAITING)
    go(due_at + timedelta(minutes=20))
    assert Job.objects.count() == 1
    assert newest_run(schedule).state == RunState.SUBMITTED


def test_a_defect_in_one_stops_no_other_and_it_comes_last_from_then_on(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisonous, other = add(name="poison"), add(name="well", spec=spec(name="other"))
    now = when_due(poisonous)
    submit = submission.submit

    def fail_for_one(**words: Any) -> Any:
        if words["scheduled"].name == "poison":
            raise ZeroDivisionError
        return submit(**words)

    monkeypatch.setattr(submission, "submit", fail_for_one)
    go(now)
    assert newest_run(other).state == RunState.SUBMITTED
    waiting = newest_run(poisonous)
    assert (waiting.state, waiting.attempts) == (RunState.WAITING, 1)
    assert waiting.try_at > now
    for minute in range(1, 180):
        go(now + timedelta(minutes=minute))
    failed = newest_run(poisonous)
    assert failed.state == RunState.FAILED
    assert "log" in failed.message
    poisonous.refresh_from_db()
    assert poisonous.failures == 1


def test_a_time_that_cannot_be_planned_pauses_the_schedule(add: AddSchedule) -> None:
    schedule = add()
    now = when_due(schedule)
    TeamSchedule.objects.update(time_zone="Gone/Away")
    go(now)
    schedule.refresh_from_db()
    assert schedule.is_paused
    assert "Gone/Away" in schedule.paused_because


def test_teams_take_turns(
    add: AddSchedule, language: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_round, "MOST_TRIED", 2)
    monkeypatch.setattr(one_round, "MOST_RECORDED", 2)
    for number in range(4):
        add(name=f"a{number}", spec=spec(name=f"a{number}"))
    path = "/api/v1/teams/language/schedules"
    body = {"name": "b", "spec": spec(name="b"), "cron": "0 2 * * *"}
    assert client_of(language).post(path, body, format="json").status_code == 201
    now = when_due(TeamSchedule.objects.get(name="b"))
    go(now)
    assert set(Job.objects.values_list("team__name", flat=True)) == {"vision", "language"}
    assert Job.objects.count() == 2
    for _ in range(2):
        go(now)
    assert Job.objects.count() == 5


def test_a_round_is_bounded_by_time_and_goes_on_in_the_next(add: AddSchedule) -> None:
    for number in range(3):
        add(name=f"a{number}", spec=spec(name=f"a{number}"))
    now = when_due(TeamSchedule.objects.get(name="a0"))
    for _ in range(3):
        one_round.run_round(read_pools, clock=lambda: now, has_time=lambda: False)
    assert Job.objects.count() == 3


def test_statements_of_a_round_are_counted(add: AddSchedule, pool: Pool) -> None:
    first = add(name="a", spec=spec(name="a"))
    with CaptureQueriesContext(
        connection,
    ) as nothing:
        go(timezone.now())
    assert len(nothing) == STATEMENTS_WHERE_NOTHING_IS_DUE
    now = when_due(first)
    with CaptureQueriesContext(connection) as one:
        go(now)
    for number in range(3):
        add(name=f"b{number}", spec=spec(name=f"b{number}"))
    later = now + timedelta(days=1)
    Job.objects.update(state=JobState.COMPLETED)
    with CaptureQueriesContext(connection) as four:
        go(later)
    assert Job.objects.count() == 5
    assert _plain(one) <= STATEMENTS_OF_A_ROUND + STATEMENTS_OF_ONE
    assert _plain(four) <= STATEMENTS_OF_A_ROUND + 4 * STATEMENTS_OF_ONE


def _plain(captured: CaptureQueriesContext) -> int:
    return sum("SAVEPOINT" not in query["sql"] for query in captured.captured_queries)


# What was due while the service was away.


def test_of_times_that_were_missed_the_last_is_submitted(add: AddSchedule) -> None:
    schedule = add(cron="0 * * * *")
    first = schedule.next_at
    assert first is not None
    now = first + timedelta(hours=9, minutes=30)
    go(now)
    run = newest_run(schedule)
    assert (run.state, run.due_at) == (RunState.SUBMITTED, first + timedelta(hours=9))
    assert "left out" in run.message
    assert Job.objects.count() == ScheduleRun.objects.count() == 1
    schedule.refresh_from_db()
    assert schedule.next_at == first + timedelta(hours=10)


def test_what_was_missed_for_too_long_is_not_submitted_and_told(
    add: AddSchedule, vision: Team
) -> None:
    add_webhook(vision, "https://example.com")
    schedule = add(start_within=3600)
    run = go_when_due(schedule, after=timedelta(hours=2))
    assert run.state == RunState.MISSED
    assert not Job.objects.exists()
    assert WebhookDelivery.objects.get().kind == "schedule_refused"
    schedule.refresh_from_db()
    assert (schedule.failures, schedule.is_paused) == (0, False)


def test_with_catch_up_none_what_is_late_is_left_out(add: AddSchedule) -> None:
    schedule = add(catch_up=CatchUp.NONE)
    assert go_when_due(schedule, after=timedelta(minutes=4)).state == RunState.SUBMITTED
    assert go_when_due(schedule, after=timedelta(minutes=6)).state == RunState.MISSED


def test_a_long_outage_of_a_frequent_schedule_is_planned_at_once(add: AddSchedule) -> None:
    schedule = add(cron="*/5 * * * *", start_within=24 * 3600)
    run = go_when_due(schedule, after=timedelta(days=1000))
    assert run.state == RunState.SUBMITTED
    assert Job.objects.count() == 1


def test_what_waited_until_it_was_too_late_is_missed(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = add()
    now = when_due(schedule)
    with monkeypatch.context() as patched:
        patched.setattr(trying, "waiting", lambda *_: [])
        go(now)
    go(now + timedelta(hours=7))
    assert newest_run(schedule).state == RunState.MISSED
    assert not Job.objects.exists()


# While a job of it lives.


def test_overlap_skip_leaves_a_time_out_while_a_job_lives(add: AddSchedule) -> None:
    schedule = add()
    go_when_due(schedule)
    run = go_when_due(schedule)
    assert run.state == RunState.SKIPPED
    assert "still lives" in run.message
    Job.objects.update(state=JobState.COMPLETED)
    assert go_when_due(schedule).state == RunState.SUBMITTED
    schedule.refresh_from_db()
    assert schedule.failures == 0


def test_overlap_allow_submits_another_beside_it(add: AddSchedule) -> None:
    schedule = add(overlap=Overlap.ALLOW)
    go_when_due(schedule)
    assert go_when_due(schedule).state == RunState.SUBMITTED
    assert Job.objects.filter(state=JobState.QUEUED).count() == 2


def test_overlap_replace_cancels_the_schedules_own_job_and_no_other(
    add: AddSchedule, submit: Any, vision: Team
) -> None:
    foreign = submit(name="digits")
    other = add(name="other", spec=spec(name="other"))
    go_when_due(other)
    schedule = add(name="replacing", cron="0 3 * * *", overlap=Overlap.REPLACE)
    go_when_due(schedule)
    first = Job.objects.get(schedule=schedule.id)
    # Its place in the queue is the only one: what is replaced does not stand in the way.
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=3)
    make_due(schedule, schedule_next(schedule))
    assert go_when_due(schedule).state == RunState.SUBMITTED
    first.refresh_from_db()
    assert first.state == JobState.CANCELLED
    assert "schedule replacing replaces it" in first.message
    alive = Job.objects.filter(state=JobState.QUEUED)
    assert set(alive.values_list("schedule_name", flat=True)) == {"", "other", "replacing"}
    assert foreign in alive


def schedule_next(schedule: TeamSchedule) -> Any:
    schedule.refresh_from_db()
    return schedule.next_at


def test_a_refused_submission_replaces_nothing(add: AddSchedule) -> None:
    schedule = add(overlap=Overlap.REPLACE)
    go_when_due(schedule)
    TeamSchedule.objects.update(spec={**schedule.spec, "command": []})
    assert go_when_due(schedule).state == RunState.REFUSED
    assert Job.objects.get().state == JobState.QUEUED


def test_overlap_replace_needs_the_right_to_cancel(vision: Team, pool: Pool) -> None:
    _, key = tokens.issue(team=vision, name="only", scopes=["submit"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    schedule = add_by(client, overlap=Overlap.REPLACE)
    go_when_due(schedule)
    run = go_when_due(schedule)
    assert run.state == RunState.REFUSED
    assert "may not cancel" in run.message
    assert Job.objects.get().state == JobState.QUEUED


# What is refused.


def test_a_refusal_is_shown_and_told_and_after_five_the_schedule_pauses_itself(
    add: AddSchedule, api: APIClient, vision: Team
) -> None:
    add_webhook(vision, "https://example.com")
    add_webhook(vision, "https://example.com", name="named", is_on_request=True)
    add_webhook(vision, "https://example.com", name="others", kinds=["idle"])
    schedule = add(spec=spec(notify={"to": ["named"]}))
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=0)
    for number in range(1, endings.MOST_FAILURES + 1):
        run = go_when_due(schedule)
        assert run.state == RunState.REFUSED
        assert "max_queued_jobs" in run.message
        schedule.refresh_from_db()
        assert schedule.failures == number
    assert schedule.is_paused
    assert "5 runs in a row" in schedule.paused_because
    shown = api.get("/api/v1/teams/vision/schedules/nightly").json()
    assert shown["last_run"]["state"] == "refused"
    assert shown["next_at"] is None
    told = WebhookDelivery.objects.order_by("webhook", "created_at")
    kinds = [(one.webhook.name, one.kind) for one in told]
    assert kinds.count(("hook", "schedule_refused")) == endings.MOST_FAILURES
    assert kinds.count(("hook", "schedule_paused")) == 1
    assert kinds.count(("named", "schedule_paused")) == 1
    assert "others" not in {name for name, _ in kinds}
    assert "nightly" in told[0].body


def test_one_that_is_accepted_again_has_failed_no_more(add: AddSchedule, vision: Team) -> None:
    schedule = add()
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=0)
    go_when_due(schedule)
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=5)
    go_when_due(schedule)
    schedule.refresh_from_db()
    assert schedule.failures == 0


def test_what_was_due_is_not_submitted_once_it_is_paused(
    add: AddSchedule, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = add()
    now = when_due(schedule)
    with monkeypatch.context() as patched:
        patched.setattr(trying, "waiting", lambda *_: [])
        go(now)
    assert api.post("/api/v1/teams/vision/schedules/nightly/pause").status_code == 200
    go(now + timedelta(minutes=1))
    assert newest_run(schedule).state == RunState.SKIPPED
    assert not Job.objects.exists()


def test_one_that_is_deleted_in_the_middle_of_a_round_leaves_no_error(
    add: AddSchedule, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    schedule = add()
    now = when_due(schedule)
    attempt = trying.attempt

    def delete_first(run: ScheduleRun, *words: Any) -> None:
        TeamSchedule.objects.filter(pk=run.schedule_id).delete()
        attempt(run, *words)

    monkeypatch.setattr(trying, "attempt", delete_first)
    go(now)
    assert not Job.objects.exists()
    assert "could not be handled" not in caplog.text
