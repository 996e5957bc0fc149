"""Who may read metrics? They tell of all teams, so a key opens them that operators give out.

Admins may look at them in a browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from django.conf import settings
from rest_framework import exceptions, permissions
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from tenancy.access.keys.bearer import bearer_key
from tenancy.access.principal import principal_of


@dataclass(frozen=True, slots=True)
class Scraper:
    """The user behind a request with a key for metrics."""

    is_authenticated: bool = True
    is_active: bool = True


class ScraperAuthentication(BaseAuthentication):
    """`Authorization: Bearer` and one of `CONCERTINA_METRICS_KEYS`."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        key = bearer_key(request.headers.get("Authorization", ""))
        if key is None:
            return None
        known = [compare_digest(key.encode(), one.encode()) for one in _keys()]
        if any(known):
            return Scraper(), None
        raise exceptions.AuthenticationFailed(_HOW if known else _SET_ONE)

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"


class MayReadMetrics(permissions.BasePermission):
    """Scrapers and admins."""

    message = "Metrics tell of all teams: they are for admins, and for whoever has a key for them."

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002 - DRF's signature
        if isinstance(request.user, Scraper):
            return True
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated(_HOW if _keys() else _SET_ONE)
        return principal_of(request).is_admin


def _keys() -> tuple[str, ...]:
    keys: tuple[str, ...] = settings.CONCERTINA.metrics_keys
    return keys


_HOW = (
    "Send `Authorization: Bearer KEY` with a key of CONCERTINA_METRICS_KEYS, or log in as an admin."
    " Tokens of teams open no metrics."
)
_SET_ONE = (
    "This installation has no key for metrics: set CONCERTINA_METRICS_KEYS and send one of them as"
    " `Authorization: Bearer KEY`, or log in as an admin."
)
