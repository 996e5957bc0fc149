"""What does a list of webhooks look like, and one of what they were sent?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Delivery, Webhook


def webhooks_table(webhooks: Iterable[Webhook]) -> FittingTable:
    table = FittingTable("ID", "TEAM", "NAME", "ADDRESS", "SHAPE", "IS TOLD OF", "STATE")
    for one in webhooks:
        table.add_row(
            str(one["id"]),
            one["team"] or "all teams",
            one["name"],
            one["url"],
            one["shape"],
            _told(one),
            _state(one),
        )
    return table


def deliveries_table(deliveries: Iterable[Delivery]) -> FittingTable:
    table = FittingTable("ID", "WHEN", "KIND", "JOB", "STATE", "ATTEMPTS", "LAST ANSWER")
    for one in deliveries:
        table.add_row(
            one["id"],
            words.date_time(one["created_at"]),
            one["kind"],
            one["job_id"] or words.NOTHING,
            one["state"],
            str(one["attempts"]),
            _last_answer(one),
        )
    return table


def added(webhook: Webhook) -> str:
    """Say of what a new webhook is told."""
    what = "jobs that name it say" if webhook["is_on_request"] else "happens"
    return f"Webhook {webhook['name']} is told what {what} from now on."


def _told(webhook: Webhook) -> str:
    if webhook["is_on_request"]:
        return "what jobs say that name it"
    kinds = ", ".join(webhook["kinds"]) or "everything"
    return f"{kinds} ({', '.join(webhook['states'])})" if webhook["states"] else kinds


def _state(webhook: Webhook) -> str:
    if not webhook["is_enabled"]:
        return "off"
    return f"failed {webhook['failures']} times" if webhook["failures"] else "well"


def _last_answer(delivery: Delivery) -> str:
    if not delivery["tries"]:
        return words.NOTHING
    last = delivery["tries"][-1]
    return last["problem"] or str(last["status"])
