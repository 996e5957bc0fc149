"""Where may webhooks be called? Never where the service itself is, whatever an admin lists."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from storage.data.destinations import Reach
from storage.data.fetcher.guard import addresses_of
from storage.data.own_places import own_places
from webhooks.delivery.calls import WebhookReach

_SETTING: Final = "CONCERTINA_WEBHOOK_NETWORKS"


def webhook_reach() -> WebhookReach:
    """Return the rules of now: names of the service are looked up."""
    configured = settings.CONCERTINA
    urls = (configured.redis_url, configured.internal_url, configured.service_url)
    own = addresses_of(own_places(settings.DATABASES["default"], urls))
    listed = configured.webhook_networks
    return WebhookReach(
        encrypted=Reach(listed=listed, own=own, setting=_SETTING),
        plain=Reach(listed=listed, own=own, is_public=False, setting=_SETTING),
        mail=configured.mail,
    )
