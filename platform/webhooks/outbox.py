"""What has to be sent? Each event is put into the outbox once for each webhook that wants it.

Whoever fills it holds the row that says up to which position that was done, and moves it in the
transaction that writes the deliveries: so each event is put in exactly once, whoever dies when.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from tenancy.models import Team

from autoscaler.job_vocabulary import EventKind
from jobs.api.representation import represented
from jobs.api.serializers import FeedEventSerializer
from jobs.changes.numbering import number_events
from jobs.models import Event
from jobs.queries import event_feed
from jobs.queries.event_feed import FeedFilter
from webhooks.models import OutboxPlace, Webhook, WebhookDelivery
from webhooks.named import Named
from webhooks.shapes import body_of, schedule_body

TRIED_FOR: Final = timedelta(days=1)
MOST_AT_ONCE: Final = 500  # events of one transaction
_MOST_OF_PART: Final = 1000  # deliveries that are written at once
_PART_BYTES: Final = 4 << 20  # of their bodies, about
_THE_ONLY_ROW: Final = 1
_log: Final = logging.getLogger(__name__)


def fill(now: datetime, *, service_url: str) -> bool:
    """Put the next events into the outbox; True if there are more.

    It takes three statements where nothing happened, and seven more for each 500 events.
    """
    number_events()
    try:
        return _fill(now, service_url)
    except IntegrityError:  # a webhook was removed meanwhile
        _log.warning("A webhook was removed meanwhile: the outbox is filled again.", exc_info=True)
        return True


def _fill(now: datetime, service_url: str) -> bool:
    with transaction.atomic():
        place = _held_place()
        if place is None:  # somebody else is at it
            return False
        page = event_feed.page_after(place.position, FeedFilter(team_ids=None), most=MOST_AT_ONCE)
        if page.reached == place.position:
            return False
        if page.events:
            for part in _parts(_deliveries(page.events, now, service_url)):
                WebhookDelivery.objects.bulk_create(part)
        place.position = page.reached
        place.save(update_fields=["position"])
    return page.has_more


def _held_place() -> OutboxPlace | None:
    """Return the row that only one may hold; the first time it is at the end of the feed."""
    held = OutboxPlace.objects.select_for_update(skip_locked=True)
    place = held.filter(pk=_THE_ONLY_ROW).first()
    if place is not None or OutboxPlace.objects.exists():
        return place
    first = OutboxPlace(pk=_THE_ONLY_ROW, position=_first_position())
    OutboxPlace.objects.bulk_create([first], ignore_conflicts=True)
    return held.filter(pk=_THE_ONLY_ROW).first()


def _first_position() -> int:
    """Return behind which position somebody may want to be told of events."""
    last, made = event_feed.last_position(), Webhook.objects.order_by("after_position")
    oldest = made.values_list("after_position", flat=True).first()
    return last if oldest is None else min(last, oldest)


def _parts(found: Iterable[WebhookDelivery]) -> Iterator[Sequence[WebhookDelivery]]:
    """Yield them in parts that fit into memory, however many webhooks want them."""
    part, size = list[WebhookDelivery](), 0
    for one in found:
        part.append(one)
        size += len(one.body)
        if len(part) >= _MOST_OF_PART or size >= _PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _deliveries(
    events: Sequence[Event], now: datetime, service_url: str
) -> Iterator[WebhookDelivery]:
    webhooks = [*Webhook.objects.filter(is_enabled=True)]
    if not webhooks:
        return
    by_team, named = _by_team(webhooks), Named.by(events)
    for event in events:
        wanted = [one for one in by_team[event.job.team_id] if wants(one, event, named)]
        if not wanted:
            continue
        document: Mapping[str, Any] = represented(FeedEventSerializer, event)
        for one in wanted:
            yield WebhookDelivery(
                webhook=one,
                event_id=event.pk,
                kind=event.kind,
                job_id=event.job_id,
                body=body_of(one.shape, document, service_url=service_url),
                created_at=now,
                expires_at=now + TRIED_FOR,
                due_at=now,
            )


def tell_of_schedule(
    team_id: int, event: Mapping[str, Any], *, named: Collection[str], now: datetime, url: str
) -> None:
    """Put what happened to a team's schedule into the outbox, in the caller's transaction.

    It is told to those that are told of such events, and to `named` ones. Two statements, and a
    third if somebody is told.
    """
    kind = event["kind"]
    told = [
        one
        for one in _by_team([*Webhook.objects.filter(is_enabled=True)])[team_id]
        if one.name in named or not (one.is_on_request or (one.kinds and kind not in one.kinds))
    ]
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            webhook=one,
            kind=kind,
            body=schedule_body(one.shape, event, service_url=url),
            created_at=now,
            expires_at=now + TRIED_FOR,
            due_at=now,
        )
        for one in told
    )


def wants(webhook: Webhook, event: Event, named: Named) -> bool:
    """True if the webhook is told of this event, and was there before it."""
    if (event.position or 0) <= webhook.after_position:
        return False
    if named.names(webhook.name, event):
        return True
    return not webhook.is_on_request and _is_told_of(webhook, event)


def _is_told_of(webhook: Webhook, event: Event) -> bool:
    if webhook.kinds and event.kind not in webhook.kinds:
        return False
    is_change = event.kind == EventKind.STATE_CHANGED
    return not (is_change and webhook.states and event.new_state not in webhook.states)


def _by_team(webhooks: Collection[Webhook]) -> Mapping[int, Sequence[Webhook]]:
    """Return who is told of each team's jobs: its own webhooks, those of teams above, of all."""
    own = defaultdict[int | None, list[Webhook]](list)
    for one in webhooks:
        own[one.team_id].append(one)
    parents = dict(Team.objects.values_list("pk", "parent_id"))
    return {
        team: [*own[None], *(one for above in _line(team, parents) for one in own[above])]
        for team in parents
    }


def _line(team: int, parents: Mapping[int, int | None]) -> Iterator[int]:
    """Yield the team and those above it; a circle, which is refused, would end this as well."""
    seen = set[int]()
    above: int | None = team
    while above is not None and above not in seen:
        yield above
        seen.add(above)
        above = parents.get(above)
