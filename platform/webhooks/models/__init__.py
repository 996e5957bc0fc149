"""Who is told what, and how it went?

`Webhook` is an address with what is sent there, `WebhookDelivery` one message to one of them: the
outbox and its log. `OutboxPlace` is up to where events have been put into the outbox.
"""

from webhooks.models.delivery import DeliveryState, OutboxPlace, WebhookDelivery
from webhooks.models.webhook import Webhook, WebhookShape

__all__ = ["DeliveryState", "OutboxPlace", "Webhook", "WebhookDelivery", "WebhookShape"]
