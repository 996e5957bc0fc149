"""How does a browser get to the identity provider, and back into a session here?

Both addresses are pages that send the browser on. Who is not let in comes back to the sign-in page,
which says why: it is told a word of a known list, and no text.
"""

from __future__ import annotations

import logging
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET
from tenancy import sign_in
from tenancy.access.addresses import address_of
from tenancy.audit import writing
from tenancy.audit.records import AuditRecord
from tenancy.audit.writing import AuditSender
from tenancy.models import AuditOutcome, AuditSenderKind
from tenancy.single_sign_on import accounts
from tenancy.single_sign_on.accounts import AdmittedPerson
from tenancy.single_sign_on.claims import VouchedPerson
from tenancy.single_sign_on.provider import LASTS_SECONDS, provider
from tenancy.single_sign_on.refusals import SignInRefused
from tenancy.single_sign_on.terms import ProviderTerms

OPERATION: Final = "sign_in_by_provider"
COOKIE: Final = f"{settings.SESSION_COOKIE_NAME}_provider"
_PATH: Final = "/sign-in/"
_LONGEST_PATH: Final = 1000
_BACKEND: Final = "tenancy.sign_in.ThrottledBackend"  # by which sessions find their person
_log: Final = logging.getLogger(__name__)


@require_GET
def begin(request: HttpRequest) -> HttpResponseRedirect:
    """Send the browser to the provider."""
    wanted = local_path(request.GET.get("next", ""))
    try:
        sign_in.count_by_provider(address_of(request))
        address, kept = provider().begin(wanted)
    except (SignInRefused, sign_in.TooManyAttempts) as refusal:
        _tell(request, refusal)
        return _back(refusal.code, wanted)
    response = _sent_to(address)
    response.set_cookie(
        COOKIE,
        kept,
        max_age=LASTS_SECONDS,
        path=_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_GET
def finish(request: HttpRequest) -> HttpResponseRedirect:
    """Let in whom the provider vouches for, as far as its groups say."""
    response = _finished(request)
    response.delete_cookie(COOKIE, path=_PATH, samesite="Lax")
    return response


def _finished(request: HttpRequest) -> HttpResponseRedirect:
    try:
        sign_in.count_by_provider(address_of(request))
        vouched, goes_to = provider().finish(request.COOKIES.get(COOKIE, ""), request.GET.dict())
    except (SignInRefused, sign_in.TooManyAttempts) as refusal:
        _tell(request, refusal)
        return _back(refusal.code)
    try:
        admitted = _admitted(request, vouched)
    except IntegrityError:  # another request has just made this account, or one of this name
        admitted = _admitted(request, vouched)
    if admitted.refusal is not None:
        return _back(admitted.refusal.code, goes_to)
    return _sent_to(local_path(goes_to))


def _admitted(request: HttpRequest, vouched: VouchedPerson) -> AdmittedPerson:
    """Bring account, rights and audit log in order, in one transaction; begin a session."""
    terms: ProviderTerms = settings.CONCERTINA.provider  # type: ignore[assignment]  # it answered
    now = timezone.now()
    with transaction.atomic():
        admitted = accounts.admit(vouched, terms.groups, now=now)
        if admitted.refusal is None and admitted.person is not None:
            login(request, admitted.person, backend=_BACKEND)
            request.session.set_expiry(int(terms.groups.session_lasts.total_seconds()))
        _write(request, vouched, admitted)
    return admitted


def _write(request: HttpRequest, vouched: VouchedPerson, admitted: AdmittedPerson) -> None:
    """Write who came in as what, or who did not; where nothing changed, refusals are counted."""
    refusal, person = admitted.refusal, admitted.person
    told: dict[str, Any] = {"subject": vouched.subject, "mail": vouched.mail}
    if admitted.is_new:
        told["is_new"] = True
    if refusal is not None:
        told |= {"why": refusal.code, "more": refusal.told}
    record = AuditRecord(
        operation=OPERATION,
        target=vouched.issuer,
        before=admitted.before or None,
        after=told | admitted.after,
    )
    sender = AuditSender(address=address_of(request))
    if person is not None:
        sender = AuditSender(
            kind=AuditSenderKind.PERSON,
            name=person.get_username(),
            person_id=person.pk,
            address=sender.address,
        )
    if refusal is None:
        writing.write(record, sender, AuditOutcome.DONE, answer=200, at=timezone.now())
        return
    write = writing.write if admitted.before else writing.count
    write(record, sender, AuditOutcome.REFUSED, answer=refusal.status, at=timezone.now())


def _tell(request: HttpRequest, refusal: SignInRefused | sign_in.TooManyAttempts) -> None:
    """Note in both logs why nobody came in."""
    more = getattr(refusal, "told", "")
    extra = {"action": "sign_in", "code": refusal.code, "more": more}
    _log.warning("A sign-in by the identity provider failed: %s", refusal, extra=extra)
    record = AuditRecord(
        operation=OPERATION, target="", after={"why": refusal.code, "more": more[:300]}
    )
    sender = AuditSender(address=address_of(request))
    writing.count(record, sender, AuditOutcome.REFUSED, answer=refusal.status, at=timezone.now())


def local_path(wanted: str) -> str:
    """Return the path if it is one of this very site, else that of its first page."""
    is_local = (
        wanted.startswith("/")
        and len(wanted) <= _LONGEST_PATH
        and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    )
    return wanted if is_local and not wanted.startswith((_PATH, "/login")) else "/"


def _back(code: str, wanted: str = "/") -> HttpResponseRedirect:
    told = {"problem": code} | ({"next": wanted} if wanted != "/" else {})
    return _sent_to(f"/login?{urlencode(told)}")


def _sent_to(address: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(address, headers={"Cache-Control": "no-store"})
