"""Whom did Django recognise as the sender of a request? It is noted for `rates`."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from tenancy.access.principal import PersonalTokenUser, TokenUser
from tenancy.models import Membership

from control_plane.front.asgi_types import Scope
from control_plane.front.callers import PRINCIPAL, Sender, caller_of


class PrincipalMiddleware:
    """Notes the sender in the ASGI scope; it asks the database once, for a person's team."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        scope = getattr(request, "scope", None)
        if scope is not None and (principal := _principal(request, scope)):
            scope[PRINCIPAL] = principal
        return response


def _principal(request: HttpRequest, scope: Scope) -> Sender | None:
    user = request.__dict__.get("user")  # DRF puts its own there; Django's loads only when used
    if type(user) is TokenUser:
        return Sender(name=f"token:{user.token.pk}", group=f"team:{user.token.team_id}")
    loaded: User | None = request.__dict__.get("_cached_user")
    if isinstance(user, PersonalTokenUser):
        loaded = user.token.person
    if loaded is None or not loaded.is_authenticated:
        return None
    name = f"user:{loaded.pk}"
    return Sender(name=name, group="" if caller_of(scope) == name else _group(loaded))


def _group(person: User) -> str:
    """Return the first of the teams that a person is in; admins are a group of their own.

    Whoever has a role in many teams by being in one above shares with that one, and with no other.
    """
    if person.is_superuser:
        return ""
    places = Membership.objects.filter(user=person).order_by("team_id")
    try:
        team = places.values_list("team_id", flat=True).first()
    except (DatabaseError, InterfaceError):
        return ""
    return "" if team is None else f"team:{team}"
