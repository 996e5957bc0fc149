"""What can go wrong with a request about a webhook? One class per situation, each with a code."""

from __future__ import annotations

from typing import ClassVar


class WebhookError(Exception):
    """A request about a webhook cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class TooManyWebhooks(WebhookError):
    """There are as many webhooks as there may be; delete one first."""

    code, status = "too_many_webhooks", 409


class WebhookNameTaken(WebhookError):
    """Another webhook has this name; use another, or delete that one first."""

    code, status = "name_in_use", 409


class WebhookBusy(WebhookError):
    """Several messages to this webhook were asked for and wait to be sent; look how they went."""

    code, status = "webhook_busy", 409


class WebhookOff(WebhookError):
    """This webhook is switched off; switch it on first."""

    code, status = "webhook_off", 409


class WebhookNotFound(WebhookError):
    """There is no such webhook (any more)."""

    code, status = "not_found", 404


class AddressRefused(WebhookError):
    """Nothing can be sent to this address."""

    code, status = "invalid_request", 400


class NoMailHere(WebhookError):
    """This installation sends no mail; an admin can set CONCERTINA_MAIL_SERVER."""

    code, status = "no_mail_server", 409
