"""Which deliveries are due, and what came of them?

A claim is over by itself after a while, so whoever is killed between claiming and noting has its
deliveries sent again by the next. `attempts` says which claim a result is of: one that came too
late to be noted as failed does not disturb the next attempt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from autoscaler.backoff import Backoff
from webhooks.models import DeliveryState, Webhook, WebhookDelivery

CLAIMED_FOR: Final = timedelta(seconds=60)  # several times as long as a call may take
MOST_OF_ONE: Final = 8  # deliveries that one webhook is sent at once; one while it fails
TRIES_KEPT: Final = 10
RETRIES: Final = Backoff(first_seconds=10.0, longest_seconds=4 * 3600.0)  # 18 or so in a day
RESTS: Final = Backoff(first_seconds=5.0, longest_seconds=900.0)  # of a webhook that fails
EXPIRED_AT_ONCE: Final = 1000
_CLAIM: Final = """
    UPDATE webhooks_webhookdelivery SET due_at = %(until)s, attempts = attempts + 1
    WHERE id IN (
        SELECT due.id
        FROM webhooks_webhook AS webhook
        CROSS JOIN LATERAL (
            SELECT id, due_at FROM webhooks_webhookdelivery
            WHERE webhook_id = webhook.id AND state = 'waiting'
                AND due_at <= %(now)s AND expires_at > %(now)s
            ORDER BY due_at
            LIMIT CASE WHEN webhook.failures = 0 THEN %(of_one)s ELSE 1 END
            FOR UPDATE SKIP LOCKED
        ) AS due
        WHERE webhook.is_enabled
            AND (webhook.rests_until IS NULL OR webhook.rests_until <= %(now)s)
            AND webhook.id <> ALL(%(busy)s)
        ORDER BY due.due_at
        LIMIT %(most)s
    )
    RETURNING id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """How a call went."""

    delivery_id: UUID
    webhook_id: int
    attempt: int
    at: datetime
    seconds: float
    status: int | None = None  # None: there was no answer
    problem: str = ""  # empty: it was delivered

    def as_try(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(),
            "seconds": round(self.seconds, 3),
            "status": self.status,
            "problem": self.problem,
        }


def claim(now: datetime, *, most: int, busy: Collection[int] = ()) -> Sequence[WebhookDelivery]:
    """Claim what is due, the oldest first, with its webhooks; nothing of those that are `busy`."""
    values: dict[str, Any] = {
        "now": now,
        "until": now + CLAIMED_FOR,
        "of_one": MOST_OF_ONE,
        "most": most,
        "busy": [*busy],
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        ids = [number for (number,) in cursor.fetchall()]
    return [*WebhookDelivery.objects.filter(pk__in=ids).select_related("webhook")] if ids else []


def note(results: Sequence[CallResult]) -> None:
    """Note how calls went: each delivery, and how its webhook does."""
    with transaction.atomic():
        by_id = {one.delivery_id: one for one in results}
        waiting = WebhookDelivery.objects.select_for_update().filter(
            pk__in=by_id, state=DeliveryState.WAITING
        )
        changed = [row for row in waiting.order_by("pk") if _apply(row, by_id[row.pk])]
        WebhookDelivery.objects.bulk_update(
            changed, ["state", "due_at", "failures", "delivered_at", "tries"]
        )
        for webhook_id, last in _last_of_each(results).items():
            _note_webhook(webhook_id, last)


def expire(now: datetime) -> int:
    """Give up what nobody took in time; return how many."""
    late = WebhookDelivery.objects.filter(state=DeliveryState.WAITING, expires_at__lte=now)
    some = late.order_by("expires_at").values("pk")[:EXPIRED_AT_ONCE]
    return WebhookDelivery.objects.filter(pk__in=some, state=DeliveryState.WAITING).update(
        state=DeliveryState.DEAD
    )


def _apply(row: WebhookDelivery, result: CallResult) -> bool:
    """Change the row as the result says; False: it is of an earlier claim, and nothing is to do."""
    if result.problem and result.attempt != row.attempts:
        return False
    row.tries = [*row.tries, result.as_try()][-TRIES_KEPT:]
    if not result.problem:
        row.state, row.delivered_at = DeliveryState.DELIVERED, result.at
        return True
    row.failures += 1
    ended = result.at + timedelta(seconds=result.seconds)
    row.due_at = ended + timedelta(seconds=RETRIES.seconds_after(row.failures))
    if row.due_at >= row.expires_at:
        row.state = DeliveryState.DEAD
    return True


def _last_of_each(results: Sequence[CallResult]) -> Mapping[int, CallResult]:
    """Return for each webhook a call that was answered well, else the last one."""
    found = dict[int, CallResult]()
    for one in sorted(results, key=lambda result: (not result.problem, result.at)):
        found[one.webhook_id] = one
    return dict(sorted(found.items()))


def _note_webhook(webhook_id: int, last: CallResult) -> None:
    row = Webhook.objects.filter(pk=webhook_id)
    if not last.problem:
        row.exclude(failures=0).update(failures=0, rests_until=None)
        return
    failures = row.values_list("failures", flat=True).first()
    if failures is not None:
        rest = timedelta(seconds=RESTS.seconds_after(failures + 1))
        row.update(failures=F("failures") + 1, rests_until=last.at + rest)
