"""Which deliveries are due, and what came of them?

A claim is over by itself after a while, so whoever is killed between claiming and noting has its
deliveries sent again by the next. `attempts` says which claim a result is of: one that came too
late to be noted as failed does not disturb the next attempt.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, connection, transaction

from autoscaler.backoff import Backoff
from webhooks.models import ASKED_FOR, DeliveryState, Webhook, WebhookDelivery

CLAIMED_FOR: Final = timedelta(seconds=60)  # several times as long as a call may take
MOST_OF_ONE: Final = 8  # deliveries that one webhook is sent at once; one while it fails
MOST_OF_TEAM: Final = 16  # of those of a team, or of the installation
TRIES_KEPT: Final = 10
RETRIES: Final = Backoff(first_seconds=10.0, longest_seconds=4 * 3600.0)  # 18 or so in a day
RESTS: Final = Backoff(first_seconds=5.0, longest_seconds=900.0)  # of a webhook that fails
EXPIRED_AT_ONCE: Final = 1000
_LOCK_TIMEOUT: Final = "1s"  # nobody holds a webhook for as long
_log: Final = logging.getLogger(__name__)
_CLAIM: Final = """
    WITH open_calls AS (
        SELECT webhook.team_id, sum(one.calls) AS calls
        FROM unnest(%(busy)s::bigint[], %(calls)s::int[]) AS one(id, calls)
        JOIN webhooks_webhook AS webhook USING (id)
        GROUP BY webhook.team_id
    )
    UPDATE webhooks_webhookdelivery SET due_at = %(until)s, attempts = attempts + 1
    WHERE id IN (
        SELECT id FROM (
            SELECT due.id, due.due_at, coalesce(open_calls.calls, 0) + row_number() OVER (
                PARTITION BY webhook.team_id ORDER BY due.due_at, due.id
            ) AS of_team
            FROM webhooks_webhook AS webhook
            LEFT JOIN open_calls ON open_calls.team_id IS NOT DISTINCT FROM webhook.team_id
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
                AND webhook.id <> ALL(%(busy)s::bigint[])
        ) AS turns
        WHERE of_team <= %(most_of_team)s
        ORDER BY due_at > %(asked)s, of_team, due_at
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

    @property
    def ended(self) -> datetime:
        return self.at + timedelta(seconds=self.seconds)

    def as_try(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(),
            "seconds": round(self.seconds, 3),
            "status": self.status,
            "problem": self.problem,
        }


def claim(
    now: datetime, *, most: int, busy: Mapping[int, int] | None = None
) -> Sequence[WebhookDelivery]:
    """Claim what is due, with its webhooks.

    First comes what somebody asked for, then the oldest of each team, its second oldest, and so on:
    no team's slow receivers hold up those of others.

    Args:
        now: the time.
        most: so many.
        busy: webhooks that are called, with how many calls; nothing of theirs is claimed.
    """
    open_calls = busy or {}
    values: dict[str, Any] = {
        "now": now,
        "until": now + CLAIMED_FOR,
        "asked": ASKED_FOR,
        "of_one": MOST_OF_ONE,
        "most_of_team": MOST_OF_TEAM,
        "most": most,
        "busy": [*open_calls.keys()],
        "calls": [*open_calls.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        ids = [number for (number,) in cursor.fetchall()]
    return [*WebhookDelivery.objects.filter(pk__in=ids).select_related("webhook")] if ids else []


def note(results: Sequence[CallResult]) -> None:
    """Note how calls went: each delivery, and how its webhook does.

    Each webhook's are noted by themselves: what cannot be noted is due again when its claim is
    over, and costs no other webhook anything.
    """
    by_webhook = defaultdict[int, list[CallResult]](list)
    for one in results:
        by_webhook[one.webhook_id].append(one)
    for webhook_id, own in by_webhook.items():
        try:
            _note_of_one(webhook_id, own)
        except DatabaseError:
            extra = {"action": "webhook_not_noted", "webhook_id": webhook_id}
            _log.exception("How calls of a webhook went cannot be noted.", extra=extra)


def _note_of_one(webhook_id: int, results: Sequence[CallResult]) -> None:
    """Hold the webhook first, as whoever sends something again does, and wait for no one long."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_LOCK_TIMEOUT])
        webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=webhook_id).first()
        if webhook is None:
            return
        by_id = {one.delivery_id: one for one in results}
        waiting = WebhookDelivery.objects.select_for_update().filter(
            pk__in=by_id, state=DeliveryState.WAITING
        )
        changed = [row for row in waiting.order_by("pk") if _apply(row, by_id[row.pk])]
        WebhookDelivery.objects.bulk_update(
            changed, ["state", "due_at", "failures", "delivered_at", "tries"]
        )
        _note_webhook(webhook, _telling(results))


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
    row.due_at = result.ended + timedelta(seconds=RETRIES.seconds_after(row.failures))
    if row.due_at >= row.expires_at:
        row.state = DeliveryState.DEAD
    return True


def _telling(results: Sequence[CallResult]) -> CallResult:
    """Return a call that was answered well, else the last one."""
    return max(results, key=lambda result: (not result.problem, result.at))


def _note_webhook(webhook: Webhook, last: CallResult) -> None:
    if last.problem:
        webhook.failures += 1
        rest = timedelta(seconds=RESTS.seconds_after(webhook.failures))
        webhook.rests_until = last.ended + rest
    elif webhook.failures:
        webhook.failures, webhook.rests_until = 0, None
    else:
        return
    webhook.save(update_fields=["failures", "rests_until"])
