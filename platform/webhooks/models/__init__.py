"""Who is told what, and how it went?

`Webhook` is an address with what is sent there, `WebhookDelivery` one message to one of them: the
outbox and its log; what a person asked for is due at `ASKED_FOR`, before all else. `OutboxPlace` is
up to where events have been put into the outbox.
"""

from webhooks.models.delivery import ASKED_FOR, DeliveryState, OutboxPlace, WebhookDelivery
from webhooks.models.webhook import Webhook, WebhookShape

__all__ = [
    "ASKED_FOR",
    "DeliveryState",
    "OutboxPlace",
    "Webhook",
    "WebhookDelivery",
    "WebhookShape",
]
