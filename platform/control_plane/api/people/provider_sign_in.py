"""How does a browser get to the identity provider, and back into a session here?

Both addresses are pages that send the browser on, and no operations of the API.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.views.decorators.http import require_GET
from tenancy import sign_in
from tenancy.access.addresses import address_of
from tenancy.single_sign_on.provider import LASTS_SECONDS, provider
from tenancy.single_sign_on.refusals import SignInRefused
from tenancy.single_sign_on.terms import ProviderTerms

from control_plane.api.people import letting_in
from control_plane.api.people.letting_in import local_path

OPERATION: Final = "sign_in_by_provider"
COOKIE: Final = f"{settings.SESSION_COOKIE_NAME}_provider"


@require_GET
def begin(request: HttpRequest) -> HttpResponseRedirect:
    """Send the browser to the provider."""
    wanted = local_path(request.GET.get("next", ""))
    try:
        sign_in.count_vouched(address_of(request), "begin")
        address, kept = provider().begin(wanted)
    except (SignInRefused, sign_in.TooManyAttempts) as refusal:
        letting_in.tell(request, refusal, operation=OPERATION)
        return letting_in.back_with(refusal.code, wanted)
    response = letting_in.sent_to(address)
    response.set_cookie(
        COOKIE,
        kept,
        max_age=LASTS_SECONDS,
        path=letting_in.PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_GET
def finish(request: HttpRequest) -> HttpResponseRedirect:
    """Let in whom the provider vouches for, as far as its groups say."""
    response = _finished(request)
    response.delete_cookie(COOKIE, path=letting_in.PATH, samesite="Lax")
    return response


def _finished(request: HttpRequest) -> HttpResponseRedirect:
    try:
        sign_in.count_vouched(address_of(request), "finish")
        vouched, goes_to = provider().finish(request.COOKIES.get(COOKIE, ""), request.GET.dict())
    except (SignInRefused, sign_in.TooManyAttempts) as refusal:
        letting_in.tell(request, refusal, operation=OPERATION)
        return letting_in.back_with(refusal.code)
    terms: ProviderTerms = settings.CONCERTINA.provider  # type: ignore[assignment]  # it answered
    refused = letting_in.let_in(request, vouched, terms.groups, operation=OPERATION)
    if refused is not None:
        return letting_in.back_with(refused.code, goes_to)
    return letting_in.sent_to(local_path(goes_to))
