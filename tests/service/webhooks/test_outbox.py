"""Is each event put into the outbox once for each webhook that wants it?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from tenancy.models import Team
from webhooks import outbox, shapes
from webhooks.models import OutboxPlace, WebhookDelivery

from jobs.changes import events
from jobs.models import Event, Job
from tests.service.conftest import SubmitJob
from tests.service.events.test_list_events import another_connection, committed_job
from tests.service.webhooks.conftest import add, fill

__all__ = ["committed_job"]  # a fixture

URL = "https://example.com/hook"


def told() -> list[tuple[str, str]]:
    rows = WebhookDelivery.objects.select_related("webhook").order_by("event_id", "webhook__name")
    return [(row.webhook.name, row.kind) for row in rows]


def test_a_webhook_is_told_of_what_happens_from_then_on(vision: Team, submit: SubmitJob) -> None:
    submit(name="before")
    add(vision, URL)
    submit(name="since")
    assert not fill()
    assert told() == [("hook", "submitted")]
    (row,) = WebhookDelivery.objects.all()
    assert (row.job_id, row.state) == (Job.objects.get(name="since").id, "waiting")
    assert not fill()
    assert len(told()) == 1


def test_it_is_told_of_the_kinds_and_states_that_it_names(vision: Team, job: Job) -> None:
    add(vision, URL, name="all")
    add(vision, URL, name="ended", kinds=["state_changed"], states=["failed", "completed"])
    add(vision, URL, name="idle", kinds=["idle"])
    for kind, state in (("idle", ""), ("state_changed", "failed"), ("state_changed", "paused")):
        Event.objects.create(job=job, kind=kind, new_state=state)
    fill()
    assert told() == [
        *(("all", "idle"), ("idle", "idle")),
        *(("all", "state_changed"), ("ended", "state_changed"), ("all", "state_changed")),
    ]


def test_teams_above_and_the_installation_are_told_and_no_others(
    vision: Team, language: Team, job: Job
) -> None:
    above = Team.objects.create(name="above")
    Team.objects.filter(pk=vision.pk).update(parent=above)
    below = Team.objects.create(name="below", parent=vision)
    named = {"above": above, "vision": vision, "below": below, "language": language, "all": None}
    for name, team in named.items():
        add(team, URL, name=name)
    Event.objects.create(job=job, kind="idle")
    fill()
    assert sorted(name for name, _ in told()) == ["above", "all", "vision"]


def test_a_webhook_that_is_off_is_told_nothing(vision: Team, job: Job) -> None:
    webhook, _ = add(vision, URL)
    webhook.is_enabled = False
    webhook.save()
    Event.objects.create(job=job, kind="idle")
    fill()
    assert told() == []


def test_many_events_are_put_in_by_portions(
    vision: Team, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_AT_ONCE", 2)
    add(vision, URL)
    Event.objects.bulk_create(Event(job=job, kind="idle") for _ in range(5))
    assert [fill(), fill(), fill()] == [True, True, False]
    assert len(told()) == 5


def test_of_a_long_event_the_data_are_left_out(vision: Team, job: Job) -> None:
    add(vision, URL)
    for text in ("x" * shapes.MOST_BODY, "x"):
        Event.objects.create(job=job, kind="idle", message=text, data={"long": text})
    fill()
    long, short = (
        json.loads(row.body)["data"] for row in WebhookDelivery.objects.order_by("event_id")
    )
    assert ("data" in long, len(long["message"])) == (False, 1000)
    assert (short["data"], set(short) - set(long)) == ({"long": "x"}, {"data"})


def test_deliveries_are_written_in_parts(
    vision: Team, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_PART_BYTES", 1)
    add(vision, URL)
    Event.objects.bulk_create(Event(job=job, kind="idle") for _ in range(3))
    with CaptureQueriesContext(connection) as asked:
        fill()
    inserts = [one for one in asked if 'INTO "webhooks_webhookdelivery' in one["sql"]]
    assert len(inserts) == len(told()) == 3


def test_where_a_webhook_is_removed_meanwhile_it_is_filled_again(
    committed_job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(committed_job.team, URL, name="gone")
    add(committed_job.team, URL, name="kept")
    Event.objects.create(job=committed_job, kind="idle")
    real = outbox._by_team  # noqa: SLF001 - asked in the middle

    def removed(webhooks: Any) -> Any:
        with another_connection() as other, other.cursor() as cursor:
            cursor.execute("DELETE FROM webhooks_webhook WHERE name = 'gone'")
        return real(webhooks)

    monkeypatch.setattr(outbox, "_by_team", removed)
    assert fill()
    assert told() == []
    assert not fill()
    assert told() == [("kept", "idle")]


def test_whoever_finds_another_at_it_leaves_it_to_them(transactional_db: None) -> None:
    fill()
    assert OutboxPlace.objects.count() == 1
    with another_connection() as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT position FROM webhooks_outboxplace FOR UPDATE")
        assert not fill()
        other.rollback()


def test_where_nobody_wants_anything_events_cost_two_statements_more(
    job: Job, django_assert_max_num_queries: object
) -> None:
    fill()
    events.record(job_id=job.id, kind="idle")  # type: ignore[arg-type]  # any will do
    with django_assert_max_num_queries(14):  # type: ignore[operator]  # a fixture of pytest-django
        fill()
    with django_assert_max_num_queries(6):  # type: ignore[operator]  # savepoints included
        fill()
    assert told() == []
