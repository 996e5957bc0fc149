"""Whom does a header of our own proxy vouch for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenancy.single_sign_on.claims import LONGEST_SUBJECT, VouchedPerson, person_in
from tenancy.single_sign_on.refusals import NobodyVouched
from tenancy.single_sign_on.terms import ProxyTerms

ISSUER: Final = "proxy"  # in place of a provider's address


def name_in(headers: Mapping[str, str], terms: ProxyTerms) -> str:
    """Return who it is, as the proxy says; empty: nobody."""
    name = headers.get(terms.user_header, "").strip()
    return name if len(name) <= LONGEST_SUBJECT and name.isprintable() else ""


def person_by(headers: Mapping[str, str], terms: ProxyTerms) -> VouchedPerson:
    """Return whom the headers vouch for.

    Raises:
        NobodyVouched: they name nobody.
        TooManyGroups: some would be left out, and rights with them.
    """
    name = name_in(headers, terms)
    if not name:
        raise NobodyVouched
    groups = headers.get(terms.groups_header, "") if terms.groups_header else ""
    mail = headers.get(terms.mail_header, "").strip() if terms.mail_header else ""
    claims = {
        "sub": name,
        "preferred_username": name,
        "email": mail,
        "email_verified": bool(mail),  # the proxy's word for it
        "groups": [one.strip() for one in groups.split(",") if one.strip()],
    }
    return person_in(claims, issuer=ISSUER, groups_claim="groups")
