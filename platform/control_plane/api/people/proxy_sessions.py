"""Does a session by a proxy's word go on? As long as the proxy says the same with each request.

So who signs out over there, or comes by another way than the proxy, has no session here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from tenancy.single_sign_on import proxy
from tenancy.single_sign_on.claims import VouchedPerson
from tenancy.single_sign_on.terms import ProxyTerms

from control_plane.front.proxies.vouching import VOUCHED

_MARK: Final = "concertina_vouched_by_proxy"  # in a session: for whom


class ProxySessionsMiddleware:
    """Ends sessions that no proxy of ours stands for any more, before anybody asks for them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.COOKIES.get(settings.SESSION_COOKIE_NAME):
            named = request.session.get(_MARK)
            if named is not None and named != vouched_name(request):
                logout(request)
        return self._get_response(request)


def mark(request: HttpRequest, vouched: VouchedPerson) -> None:
    """Note that this session is by the proxy's word."""
    request.session[_MARK] = vouched.subject


def vouched_headers(request: HttpRequest) -> Mapping[str, str]:
    """Return the headers that a proxy of ours set; whatever else came is not believed."""
    scope: Mapping[str, Any] = getattr(request, "scope", {})
    return scope.get(VOUCHED) or {}


def vouched_name(request: HttpRequest) -> str:
    """Return who it is, as a proxy of ours says; empty: nobody says."""
    terms: ProxyTerms | None = settings.CONCERTINA.proxy
    return "" if terms is None else proxy.name_in(vouched_headers(request), terms)
