"""How does a browser get a session by the word of a proxy of ours?"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.views.decorators.http import require_GET
from tenancy import sign_in
from tenancy.access.addresses import address_of
from tenancy.single_sign_on import proxy
from tenancy.single_sign_on.refusals import NobodyVouched, SignInRefused
from tenancy.single_sign_on.terms import ProxyTerms

from control_plane.api.people import letting_in
from control_plane.api.people.proxy_sessions import mark, vouched_headers

OPERATION: Final = "sign_in_by_proxy"


@require_GET
def finish(request: HttpRequest) -> HttpResponseRedirect:
    """Let in whom the proxy vouches for, as far as the groups say that it names."""
    wanted = letting_in.local_path(request.GET.get("next", ""))
    terms: ProxyTerms | None = settings.CONCERTINA.proxy
    try:
        sign_in.count_vouched(address_of(request), "proxy")
        if terms is None:
            raise NobodyVouched
        vouched = proxy.person_by(vouched_headers(request), terms)
    except (SignInRefused, sign_in.TooManyAttempts) as refusal:
        letting_in.tell(request, refusal, operation=OPERATION)
        return letting_in.back_with(refusal.code, wanted)
    refused = letting_in.let_in(request, vouched, terms.groups, operation=OPERATION)
    if refused is not None:
        return letting_in.back_with(refused.code, wanted)
    mark(request, vouched)
    return letting_in.sent_to(wanted)
