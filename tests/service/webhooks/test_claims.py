"""Who comes first, and is noted what came of each call?"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from django.utils import timezone
from tenancy.models import Team
from webhooks import hooks
from webhooks.delivery import claims
from webhooks.delivery.claims import CallResult
from webhooks.models import WebhookDelivery

from jobs.models import Job
from tests.service.webhooks.conftest import SERVICE, add, fill, happen, row


def failed(row: WebhookDelivery, problem: str = "It answered 500.") -> CallResult:
    return CallResult(
        delivery_id=row.pk,
        webhook_id=row.webhook_id,
        attempt=row.attempts,
        at=timezone.now(),
        seconds=9.0,
        problem=problem,
    )


def test_what_cannot_be_noted_of_one_webhook_is_noted_of_the_others(vision: Team, job: Job) -> None:
    add(vision, "https://example.com/", name="one")
    add(vision, "https://example.com/", name="other")
    happen(job)
    fill()
    first, second = claims.claim(timezone.now(), most=10)
    claims.note([failed(first, "\x00"), failed(second)])
    assert {one.pk: one.failures for one in WebhookDelivery.objects.all()} == {
        first.pk: 0,
        second.pk: 1,
    }


def test_a_webhook_rests_from_the_end_of_a_call(vision: Team, job: Job) -> None:
    webhook, _ = add(vision, "https://example.com/")
    happen(job)
    fill()
    (claimed,) = claims.claim(timezone.now(), most=10)
    result = failed(claimed)
    claims.note([result])
    webhook.refresh_from_db()
    assert webhook.rests_until is not None
    assert webhook.rests_until >= result.at + timedelta(seconds=9 + 2)


def test_no_team_takes_the_places_of_others_and_what_somebody_asked_for_comes_first(
    vision: Team, language: Team, job: Job
) -> None:
    for number in range(4):
        add(vision, "https://example.com/", name=f"hook-{number}")
    own, _ = add(None, "https://example.com/", name="all")
    happen(job, 12)
    fill()
    others, _ = add(language, "https://example.com/", name="language")
    asked = hooks.send_test(others, timezone.now(), service_url=SERVICE)
    newest = WebhookDelivery.objects.filter(webhook=own).latest("event_id")
    WebhookDelivery.objects.filter(pk=newest.pk).update(state="delivered")
    hooks.replay(own, newest.pk, timezone.now())
    now = timezone.now()
    assert {one.pk for one in claims.claim(now, most=2)} == {asked.pk, newest.pk}
    claimed = claims.claim(now, most=64, busy={own.pk: 1})
    assert {one.webhook.team for one in claimed} == {vision}
    assert len(claimed) == claims.MOST_OF_TEAM
    calls_of = Counter(one.webhook_id for one in claimed)
    assert claims.claim(now, most=64, busy={**calls_of, own.pk: 1}) == []
    assert len(claims.claim(now, most=64, busy=calls_of)) == claims.MOST_OF_ONE


def test_a_result_that_comes_after_the_next_claim_changes_nothing_unless_it_is_good(
    vision: Team, job: Job
) -> None:
    add(vision, "https://example.com/hook")
    happen(job)
    fill()
    now = timezone.now()
    (first,) = claims.claim(now, most=10)
    assert claims.claim(now, most=10) == []
    (second,) = claims.claim(now + claims.CLAIMED_FOR, most=10)
    due_at = second.due_at

    def result(of: WebhookDelivery, problem: str) -> CallResult:
        return CallResult(
            delivery_id=of.pk,
            webhook_id=of.webhook_id,
            attempt=of.attempts,
            at=now,
            seconds=0.1,
            problem=problem,
        )

    claims.note([result(first, "It answered 500.")])
    assert (row().state, row().due_at, row().failures) == ("waiting", due_at, 0)
    claims.note([result(first, "")])
    assert row().state == "delivered"
    claims.note([result(second, "It answered 500.")])
    assert row().state == "delivered"
