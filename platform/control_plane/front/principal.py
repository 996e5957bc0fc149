"""Whom did Django take for the sender of a request? Told to what stands before it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from tenancy.access import TokenUser

from control_plane.front.callers import PRINCIPAL


class PrincipalMiddleware:
    """Notes it in the request's ASGI scope, without asking the database for it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        scope = getattr(request, "scope", None)
        if scope is not None and (principal := _principal(request)):
            scope[PRINCIPAL] = principal
        return response


def _principal(request: HttpRequest) -> str | None:
    user = request.__dict__.get("user")  # DRF puts its own there; Django's loads only when used
    if type(user) is TokenUser:
        return f"token:{user.token.pk}"
    loaded = request.__dict__.get("_cached_user")
    return f"user:{loaded.pk}" if loaded is not None and loaded.is_authenticated else None
