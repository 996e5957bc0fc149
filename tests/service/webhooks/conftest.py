"""Webhooks of team vision, and a receiver of what they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from tenancy.models import Team
from webhooks import hooks, outbox
from webhooks.delivery import rounds
from webhooks.delivery.calls import WebhookReach
from webhooks.models import Webhook, WebhookDelivery

from jobs.models import Event, Job
from tests.service.webhooks.receiver import Receiver, here, receiving

SERVICE = "https://concertina.example.com"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def add(team: Team | None, url: str, *, name: str = "hook", **words: Any) -> tuple[Webhook, str]:
    wanted: dict[str, Any] = {"shape": "json", "kinds": [], "states": [], "by": "ada", **words}
    return hooks.add(team=team, name=name, url=url, **wanted)


def fill(now: datetime | None = None) -> bool:
    return outbox.fill(now or timezone.now(), service_url=SERVICE)


def send(
    *,
    after: timedelta = timedelta(0),
    rules: Callable[[], WebhookReach] = here,
    refill: Callable[[], object] = lambda: None,
) -> int:
    """Send what is due now, or will be after a while."""
    return rounds.deliver(
        rules, clock=lambda: timezone.now() + after, has_time=lambda: True, fill=refill
    )


def tell() -> int:
    """Do what the task does: put everything into the outbox, and send it."""
    while fill():
        pass
    return send()


def ids(received: Sequence[Any]) -> list[str]:
    return [one.id for one in received]


def happen(job: Job, count: int = 1) -> None:
    for _ in range(count):
        Event.objects.create(job=job, kind="idle", message="Nothing moves.")


def row() -> WebhookDelivery:
    (found,) = WebhookDelivery.objects.all()
    return found


def problem() -> str:
    return str(row().tries[-1]["problem"])
