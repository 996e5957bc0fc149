"""Which webhooks are there? Leads change those of their team, admins also the installation's."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection, transaction
from django.db.models import Q
from storage.data.destinations import host_of
from tenancy.audit import records
from tenancy.models import Team
from tenancy.queries import TeamsWithLimits

from jobs.changes.numbering import number_events
from jobs.queries import event_feed
from webhooks import secrets
from webhooks.errors import (
    AddressRefused,
    TooManyWebhooks,
    WebhookBusy,
    WebhookNameTaken,
    WebhookNotFound,
    WebhookOff,
)
from webhooks.models import ASKED_FOR, DeliveryState, Webhook, WebhookDelivery, WebhookShape
from webhooks.outbox import TRIED_FOR
from webhooks.secrets import WebhookTarget
from webhooks.shapes import TEST_KIND, test_body

MOST_OF_TEAM: Final = 10
MOST_OF_INSTALLATION: Final = 20
MOST_TESTS: Final = 5  # of a webhook that wait to be sent
LONGEST_URL: Final = 2000
_ADDING: Final = 0x486F6F6B  # "Hook", the number of a lock
_PRINTABLE: Final = re.compile(r"[!-~]+")
_PLAIN_ADDRESS: Final = re.compile(r"[!#-Z^-~]{1,254}")  # nothing quoted, no [IP address]
_log: Final = logging.getLogger(__name__)


def add(
    *,
    team: Team | None,
    name: str,
    url: str,
    shape: str,
    kinds: Sequence[str],
    states: Sequence[str],
    is_on_request: bool = False,
    by: str,
) -> tuple[Webhook, str]:
    """Add a webhook that is told of what happens from now on; the second value is its key.

    Raises:
        AddressRefused, TooManyWebhooks, WebhookNameTaken.
    """
    shown, key = shown_url(url, shape), secrets.new_key()
    team_id = None if team is None else team.pk
    number_events()
    with transaction.atomic():
        _one_at_a_time()
        others = Webhook.objects.filter(team=team)
        if others.count() >= (MOST_OF_INSTALLATION if team is None else MOST_OF_TEAM):
            raise TooManyWebhooks
        if others.filter(name=name).exists():
            raise WebhookNameTaken
        made = Webhook.objects.create(
            team=team,
            name=name,
            shape=shape,
            kinds=[*kinds],
            states=[*states],
            is_on_request=is_on_request,
            shown_url=shown,
            sealed=secrets.seal(WebhookTarget(url=url, key=key), team_id=team_id, name=name),
            after_position=event_feed.last_position(),
            created_by=by,
        )
    records.note_change(after=_told(made))
    _note(made, f"added, to {shown}", by)
    return made, key


def change(webhook: Webhook, changes: Mapping[str, Any], *, by: str) -> Webhook:
    """Change which events it is told of, or whether it is told at all.

    Raises:
        WebhookNotFound: it was removed meanwhile.
    """
    before = _told(webhook)
    if not Webhook.objects.filter(pk=webhook.pk).update(**changes):
        raise WebhookNotFound
    for name, value in changes.items():
        setattr(webhook, name, value)
    records.note_change(before=before, after=_told(webhook))
    _note(webhook, f"changed: {', '.join(changes)}", by)
    return webhook


def remove(webhook: Webhook, *, by: str) -> None:
    """Remove it with its deliveries; what is not sent yet never is."""
    records.note_change(before=_told(webhook))
    _note(webhook, "removed", by)
    with transaction.atomic():
        Webhook.objects.select_for_update().filter(pk=webhook.pk).first()
        rows = WebhookDelivery.objects.filter(webhook=webhook)
        rows._raw_delete(rows.db)  # noqa: SLF001 - nothing refers to them
        webhook.delete()


def send_test(webhook: Webhook, now: datetime, *, service_url: str) -> WebhookDelivery:
    """Send something to see whether it comes through.

    Raises:
        WebhookOff, WebhookBusy.
    """
    with transaction.atomic():
        _hold(webhook)
        waiting = WebhookDelivery.objects.filter(
            webhook=webhook, kind=TEST_KIND, state=DeliveryState.WAITING
        )
        if waiting.count() >= MOST_TESTS:
            raise WebhookBusy
        _wake(webhook)
        records.note_change(after={"kind": TEST_KIND})
        return WebhookDelivery.objects.create(
            webhook=webhook,
            kind=TEST_KIND,
            body=test_body(webhook.shape, name=webhook.name, at=now, service_url=service_url),
            created_at=now,
            expires_at=now + TRIED_FOR,
            due_at=ASKED_FOR,
        )


def replay(webhook: Webhook, delivery_id: UUID, now: datetime) -> WebhookDelivery | None:
    """Send something again, with the same id; None: it is not known (any more).

    Raises:
        WebhookOff.
    """
    with transaction.atomic():
        _hold(webhook)
        row = (
            WebhookDelivery.objects.select_for_update()
            .filter(webhook=webhook, pk=delivery_id)
            .first()
        )
        if row is None:
            return None
        records.note_change(before={"state": row.state}, after={"state": DeliveryState.WAITING})
        if row.state == DeliveryState.WAITING:
            return row
        _wake(webhook)
        row.state, row.due_at = DeliveryState.WAITING, ASKED_FOR
        row.expires_at = now + TRIED_FOR
        row.failures, row.delivered_at = 0, None
        row.save(update_fields=["state", "due_at", "expires_at", "failures", "delivered_at"])
        return row


def names_for(team: Team) -> Collection[str]:
    """Return the names of those that are told of a team's jobs: its own, of teams above, of all."""
    above = [one.pk for one in TeamsWithLimits.read().line(team.pk)]
    told = Webhook.objects.filter(Q(team__in=above) | Q(team=None))
    return {*told.values_list("name", flat=True)}


def shown_url(url: str, shape: str) -> str:
    """Return what of an address may be shown: not its path, which may be what lets one in.

    Raises:
        AddressRefused: nothing can be sent there.
    """
    return _shown_mail(url) if shape == WebhookShape.MAIL else _shown_url(url)


def _shown_mail(url: str) -> str:
    scheme, _, address = url.partition(":")
    is_plain = scheme == "mailto" and _PLAIN_ADDRESS.fullmatch(address)
    try:
        validate_email(address if is_plain else "")
    except ValidationError:
        raise AddressRefused(
            "Use one mail address such as mailto:team@example.com, of ASCII characters."
        ) from None
    return url


def _shown_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise AddressRefused(f"{url[:80]!r} is not an address.") from None
    if parts.scheme == "mailto":
        raise AddressRefused("A mail address takes the shape `mail`.")
    if not _PRINTABLE.fullmatch(url) or parts.scheme not in {"http", "https"} or not host:
        raise AddressRefused("Use an address such as https://example.com/hook, without spaces.")
    if parts.username is not None or parts.fragment:
        raise AddressRefused("Leave out user, password and what stands behind a #.")
    written = f"[{host}]" if ":" in host and host_of(host) is not None else host
    place = written if port is None else f"{written}:{port}"
    shown = f"{parts.scheme}://{place}"
    return (shown + ("/…" if parts.path.strip("/") or parts.query else ""))[:300]


def _hold(webhook: Webhook) -> None:
    """Hold its row. Raises: WebhookOff."""
    records.note_target(team_id=webhook.team_id)
    row = Webhook.objects.select_for_update().filter(pk=webhook.pk).first()
    if row is None or not row.is_enabled:
        raise WebhookOff


def _wake(webhook: Webhook) -> None:
    """Somebody looks: what it is sent now does not wait until it has rested."""
    Webhook.objects.filter(pk=webhook.pk).update(rests_until=None)


def _one_at_a_time() -> None:
    """So that no two who add at once come above the bound."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ADDING])


def _told(webhook: Webhook) -> dict[str, Any]:
    """Return what the audit log says of it, with nothing that may be secret."""
    records.note_target(target=f"webhooks/{webhook.pk}", team_id=webhook.team_id)
    team = None if webhook.team is None else webhook.team.name
    names = ("name", "shape", "kinds", "states", "is_on_request", "is_enabled")
    shown = {name: getattr(webhook, name) for name in names}
    return {"team": team, "host": webhook.shown_url, **shown}


def _note(webhook: Webhook, what: str, by: str) -> None:
    team = webhook.team.name if webhook.team is not None else None
    extra = {"action": "webhook", "team": team, "webhook": webhook.name, "by": by}
    _log.info("Webhook %s was %s.", webhook, what, extra=extra)
