"""What becomes of somebody for whom a provider or a proxy vouches? A session, or a sentence.

Account, rights and entries of the audit log change in one transaction. Who is not let in comes back
to the sign-in page, which is told a word of a known list and no text.
"""

from __future__ import annotations

import logging
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme
from tenancy.access.addresses import address_of
from tenancy.audit import writing
from tenancy.audit.records import AuditRecord
from tenancy.audit.writing import AuditSender
from tenancy.models import AuditOutcome, AuditSenderKind
from tenancy.sign_in import TooManyAttempts
from tenancy.single_sign_on import accounts
from tenancy.single_sign_on.accounts import AdmittedPerson
from tenancy.single_sign_on.claims import VouchedPerson
from tenancy.single_sign_on.refusals import SignInRefused
from tenancy.single_sign_on.terms import GroupTerms

PATH: Final = "/sign-in/"
_LONGEST_PATH: Final = 1000
_BACKEND: Final = "tenancy.sign_in.ThrottledBackend"  # by which sessions find their person
_log: Final = logging.getLogger(__name__)


def let_in(
    request: HttpRequest, vouched: VouchedPerson, terms: GroupTerms, *, operation: str
) -> SignInRefused | None:
    """Begin a session with what is theirs; return why not, if so."""
    try:
        return _let_in(request, vouched, terms, operation)
    except IntegrityError:  # another request has just made this account, or one of this name
        return _let_in(request, vouched, terms, operation)


@transaction.atomic
def _let_in(
    request: HttpRequest, vouched: VouchedPerson, terms: GroupTerms, operation: str
) -> SignInRefused | None:
    admitted = accounts.admit(vouched, terms, now=timezone.now())
    if admitted.refusal is None and admitted.person is not None:
        login(request, admitted.person, backend=_BACKEND)
        # A time of day: seconds would begin anew each time that something changes the session.
        request.session.set_expiry(timezone.now() + terms.session_lasts)
    _write(request, vouched, admitted, operation)
    return admitted.refusal


def _write(
    request: HttpRequest, vouched: VouchedPerson, admitted: AdmittedPerson, operation: str
) -> None:
    """Write who came in as what, or who did not; where nothing changed, refusals are counted."""
    refusal, person = admitted.refusal, admitted.person
    told: dict[str, Any] = {"subject": vouched.subject, "mail": vouched.mail}
    if admitted.is_new:
        told["is_new"] = True
    if refusal is not None:
        told |= {"why": refusal.code, "more": refusal.told}
    record = AuditRecord(
        operation=operation,
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


def tell(request: HttpRequest, refusal: SignInRefused | TooManyAttempts, *, operation: str) -> None:
    """Note in both logs why nobody came in."""
    more = getattr(refusal, "told", "")[:300]
    extra = {"action": "sign_in", "code": refusal.code, "more": more}
    _log.warning("A sign-in failed: %s", refusal, extra=extra)
    record = AuditRecord(operation=operation, target="", after={"why": refusal.code, "more": more})
    sender = AuditSender(address=address_of(request))
    writing.count(record, sender, AuditOutcome.REFUSED, answer=refusal.status, at=timezone.now())


def local_path(wanted: str) -> str:
    """Return the path if it is one of this very site, else that of its first page.

    It comes back as ASCII, so that the cookie that keeps it is as short as it looks.
    """
    is_local = wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, None)
    path = iri_to_uri(wanted[: _LONGEST_PATH + 1])
    is_short = len(path) <= _LONGEST_PATH
    return path if is_local and is_short and not path.startswith((PATH, "/login")) else "/"


def back_with(code: str, wanted: str = "/") -> HttpResponseRedirect:
    """Send the browser to the sign-in page, which says what the code means."""
    told = {"problem": code} | ({"next": wanted} if wanted != "/" else {})
    return sent_to(f"/login?{urlencode(told)}")


def sent_to(address: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(address, headers={"Cache-Control": "no-store"})
