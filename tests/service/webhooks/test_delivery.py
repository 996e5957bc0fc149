"""Is everything delivered to whoever takes it, and nothing sent to where it may not go?"""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from storage.data.destinations import Destination, Reach
from tenancy.models import Team
from webhooks import hooks, retention
from webhooks.delivery import calls, claims, rounds
from webhooks.delivery.calls import WebhookReach
from webhooks.delivery.claims import CallResult
from webhooks.models import Webhook, WebhookDelivery

from jobs.models import Event, Job
from tests.service.webhooks.conftest import (
    SERVICE,
    add,
    fill,
    happen,
    ids,
    problem,
    row,
    send,
    tell,
)
from tests.service.webhooks.receiver import Receiver, here, nowhere

DAY = timedelta(days=1)


def test_an_event_is_delivered_once_signed_and_as_the_api_has_it(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    webhook, key = add(vision, receiver.url + "/hook")
    happen(job)
    assert (tell(), tell()) == (1, 0)
    (sent,) = receiver.at("/hook")
    assert sent.id == str(row().pk)
    signed = f"{sent.id}.{sent.headers['webhook-timestamp']}.".encode() + sent.body
    secret = base64.b64decode(key.removeprefix("whsec_"))
    digest = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    assert sent.headers["webhook-signature"] == f"v1,{digest}"
    assert (sent.document["type"], sent.document["data"]["job_id"]) == ("idle", job.id)
    assert sent.document["data"]["url"] == f"{SERVICE}/jobs/{job.id}"
    assert (row().state, row().attempts) == ("delivered", 1)
    assert row().tries[0]["status"] == 204
    webhook.refresh_from_db()
    assert (webhook.failures, key in webhook.sealed) == (0, False)


@pytest.mark.parametrize(
    ("shape", "begins"),
    [("slack", f"<{SERVICE}/jobs/"), ("mattermost", "[digits](https:")],
)
def test_a_chat_is_told_a_sentence(
    shape: str, begins: str, vision: Team, job: Job, receiver: Receiver
) -> None:
    add(vision, receiver.url + "/chat", shape=shape)
    Event.objects.create(job=job, kind="idle", message="<b> & @all *x*")
    tell()
    (sent,) = receiver.received
    assert sent.document["text"].startswith(begins)
    assert ("@all" in sent.document["text"]) == (shape == "slack")
    assert "<b>" not in sent.document["text"]


def test_what_fails_is_sent_again_later_and_later_for_a_day(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    receiver.answers["/hook"] = 500
    add(vision, receiver.url + "/hook")
    happen(job)
    fill()
    began, waits, count = row().created_at, list[float](), 0
    while row().state == "waiting":
        before = row().due_at
        Webhook.objects.update(rests_until=None)
        assert send(after=before - timezone.now() + timedelta(seconds=1)) == 1
        waits.append((row().due_at - before).total_seconds())
        count += 1
    assert row().state == "dead"
    assert problem() == "It answered 500."
    assert all(
        waited >= claims.RETRIES.seconds_after(failures)
        for failures, waited in enumerate(waits, start=1)
    )
    assert 10 <= count <= 30
    assert row().due_at >= began + DAY
    assert len(row().tries) == claims.TRIES_KEPT
    assert len(set(ids(receiver.received))) == 1


def test_what_nobody_took_for_a_day_is_dead_also_where_it_was_not_tried(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    add(vision, receiver.url + "/hook")
    happen(job)
    fill()
    assert send(after=DAY + timedelta(seconds=5)) == 0
    assert (row().state, receiver.received) == ("dead", [])


def test_a_receiver_that_hangs_is_given_up_and_holds_up_nobody(
    vision: Team, job: Job, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(vision, receiver.url + "/hang", name="hangs")
    happen(job)
    fill()
    add(vision, receiver.url + "/fine", name="fine")
    happen(job, 12)
    fill()
    WebhookDelivery.objects.filter(webhook__name="hangs", kind="idle").exclude(
        event_id=Event.objects.filter(kind="idle").earliest("pk").pk
    ).delete()
    monkeypatch.setattr(calls, "CALL_SECONDS", 30.0)

    def is_all_there() -> bool:
        """End the hanging once the other has everything."""
        if len(receiver.at("/fine")) == 12:
            receiver.is_over.set()
        return True

    claims_until_then = claims.claim
    monkeypatch.setattr(
        claims,
        "claim",
        lambda *given, **named: is_all_there() and claims_until_then(*given, **named),
    )
    send()
    assert len(set(ids(receiver.at("/fine")))) == 12
    assert WebhookDelivery.objects.get(webhook__name="hangs").state == "waiting"


def test_a_call_takes_so_long_at_most(
    vision: Team, job: Job, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "CALL_SECONDS", 0.2)
    add(vision, receiver.url + "/hang")
    happen(job)
    tell()
    assert problem() == "There was no answer within 0.2 s."


def test_of_an_endless_answer_only_its_head_is_read(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    receiver.answers["/endless"] = 200
    add(vision, receiver.url + "/endless")
    happen(job)
    tell()
    assert row().state == "delivered"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(
    status: int, vision: Team, job: Job, receiver: Receiver
) -> None:
    receiver.answers["/hook"] = status
    add(vision, receiver.url + "/hook")
    happen(job)
    tell()
    assert receiver.at("/elsewhere") == []
    assert problem() == f"It answered {status}, a redirect, and these are not followed."


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "2130706433"])  # noqa: S104
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nothing_reaches_this_machine_unless_it_is_listed(
    scheme: str, host: str, vision: Team, job: Job, receiver: Receiver
) -> None:
    """Also by a name, or another way to write it: the address that is connected to counts."""
    port = receiver.url.rpartition(":")[2]
    add(vision, f"{scheme}://{host}:{port}/hook")
    happen(job)
    fill()
    send(rules=nowhere)
    assert receiver.received == []
    assert row().state == "waiting"
    assert row().tries[-1]["status"] is None


def test_the_service_itself_is_never_called(vision: Team, job: Job, receiver: Receiver) -> None:
    own = {("127.0.0.1", int(receiver.url.rpartition(":")[2]))}
    reach = Reach(listed=(Destination.parse("127.0.0.0/8"),), own=own, is_public=False)
    add(vision, receiver.url + "/hook")
    happen(job)
    fill()
    send(rules=lambda: WebhookReach(encrypted=reach, plain=reach))
    assert (receiver.received, "Without TLS" in problem()) == ([], True)


def test_a_webhook_that_fails_is_tried_with_one_at_a_time_and_rests(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    receiver.answers["/hook"] = 503
    webhook, _ = add(vision, receiver.url + "/hook")
    happen(job, 20)
    fill()
    assert send() == claims.MOST_OF_ONE
    assert send() == 0
    assert send(after=timedelta(hours=1)) == 1
    receiver.answers.clear()
    assert send(after=timedelta(hours=2)) == 20
    assert {one.state for one in WebhookDelivery.objects.all()} == {"delivered"}
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.rests_until) == (0, None)


def test_what_happens_while_calls_are_open_does_not_wait_for_them(
    vision: Team, job: Job, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "CALL_SECONDS", 30.0)
    monkeypatch.setattr(rounds, "_FILL_SECONDS", 0.0)
    add(vision, receiver.url + "/hang", name="hangs", kinds=["idle"])
    add(vision, receiver.url + "/fine", name="fine", kinds=["busy_again"])
    happen(job)
    fill()
    since = iter([lambda: Event.objects.create(job=job, kind="busy_again")])

    def refill() -> None:
        for happens in since:
            happens()
        fill()
        if receiver.at("/fine"):
            receiver.is_over.set()

    assert send(refill=refill) == 2
    assert len(receiver.at("/fine")) == 1


def test_names_that_nobody_finds_hold_up_no_others(
    vision: Team, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "CALL_SECONDS", 30.0)
    found, is_over = socket.getaddrinfo, threading.Event()

    def hanging(host: str, *more: Any, **named: Any) -> Any:
        if host.startswith("hangs"):
            is_over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "nobody answers")
        return found(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    slow, _ = add(vision, "http://hangs.example.com/", name="hangs")
    fine, _ = add(vision, receiver.url.replace("127.0.0.1", "localhost"), name="fine")
    sender = rounds.WebhookSender(here(), timezone.now)
    sender.start()
    try:
        sender.send([WebhookDelivery(webhook=slow, attempts=1) for _ in range(40)])
        sender.send([WebhookDelivery(webhook=fine, attempts=1)])
        results = list[CallResult]()
        while not results:
            results += sender.results()
        assert [one.webhook_id for one in results] == [fine.pk]
    finally:
        is_over.set()
        sender.end()


def test_a_dead_one_is_sent_again_with_the_same_id_when_somebody_asks(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    webhook, _ = add(vision, receiver.url + "/hook")
    happen(job)
    fill()
    send(after=DAY * 2)
    assert row().state == "dead"
    hooks.replay(webhook, row().pk, timezone.now())
    assert send() == 1
    hooks.replay(webhook, row().pk, timezone.now())
    assert send() == 1
    assert ids(receiver.received) == [str(row().pk)] * 2


def test_a_test_goes_out_and_so_many_may_wait(vision: Team, receiver: Receiver) -> None:
    webhook, _ = add(vision, receiver.url + "/hook")
    for _ in range(hooks.MOST_TESTS):
        hooks.send_test(webhook, timezone.now(), service_url=SERVICE)
    with pytest.raises(hooks.WebhookBusy):
        hooks.send_test(webhook, timezone.now(), service_url=SERVICE)
    assert tell() == hooks.MOST_TESTS
    assert receiver.received[0].document["type"] == "test"


def test_what_was_sealed_under_another_key_is_said_to_be(
    vision: Team, job: Job, receiver: Receiver
) -> None:
    webhook, _ = add(vision, receiver.url + "/hook")
    Webhook.objects.filter(pk=webhook.pk).update(name="renamed")
    happen(job)
    tell()
    assert "secret key" in problem()


def test_old_deliveries_are_forgotten_unless_they_wait(vision: Team, job: Job) -> None:
    add(vision, "https://example.com/hook")
    happen(job, 3)
    fill(timezone.now() - 20 * DAY)
    one, other, _ = WebhookDelivery.objects.all()
    WebhookDelivery.objects.filter(pk=one.pk).update(state="dead")
    WebhookDelivery.objects.filter(pk=other.pk).update(state="delivered")
    deleted = retention.delete_old(14 * DAY, erase=lambda rows: rows.delete()[0])
    assert (deleted, row().state) == ({"deliveries": 2}, "waiting")
    assert retention.delete_old(None, erase=lambda rows: rows.delete()[0]) == {"deliveries": 0}


def test_of_a_webhook_only_the_newest_are_kept_and_those_that_wait(
    vision: Team, job: Job, django_assert_num_queries: Any
) -> None:
    crowded, _ = add(vision, "https://example.com/hook", name="crowded")
    add(vision, "https://example.com/hook", name="quiet", kinds=["reclaim"])
    for minute in range(6):
        happen(job)
        fill(timezone.now() - timedelta(minutes=10 - minute))
    oldest, *others = WebhookDelivery.objects.order_by("created_at")
    WebhookDelivery.objects.exclude(pk=oldest.pk).update(state="dead")
    with django_assert_num_queries(2):
        deleted = retention.delete_old(None, erase=lambda rows: rows.delete()[0], most=3)
    assert deleted == {"deliveries": 2}
    assert [*WebhookDelivery.objects.order_by("created_at")] == [oldest, *others[2:]]
    assert {one.webhook_id for one in others} == {crowded.pk}
