"""What does the provider say of a person? Nothing is believed beyond these bounds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenancy.single_sign_on.refusals import AnswerInvalid, TooManyGroups
from tenancy.single_sign_on.terms import EVERYBODY, GroupTerms

LONGEST_SUBJECT: Final = 255  # as OpenID Connect has it
MOST_GROUPS: Final = 1000
LONGEST_GROUP: Final = 300
LONGEST_NAME: Final = 100
_NOT_OF_NAMES: Final = re.compile(r"[^\w.@+-]+")
_NAMES: Final = ("preferred_username", "email", "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class VouchedPerson:
    """Somebody for whom a provider vouches; issuer and subject alone are who they are."""

    issuer: str
    subject: str
    name: str  # that they would like here
    mail: str = ""
    is_mail_confirmed: bool = False
    groups: frozenset[str] = frozenset()

    def is_admitted(self, terms: GroupTerms) -> bool:
        """True if they may sign in, as things are now."""
        if terms.admits == EVERYBODY or terms.makes_admin(self.groups):
            return True
        if terms.mail_domains:
            domain = self.mail.rpartition("@")[2].lower()
            return self.is_mail_confirmed and domain in terms.mail_domains
        return bool(terms.roles_of(self.groups))


def person_in(claims: Mapping[str, Any], *, issuer: str, groups_claim: str) -> VouchedPerson:
    """Return whom validated claims are about.

    Raises:
        AnswerInvalid: they name nobody, or something that is no list of groups.
        TooManyGroups: some would be left out, and rights with them.
    """
    subject = claims.get("sub")
    if (
        not isinstance(subject, str)
        or not 0 < len(subject) <= LONGEST_SUBJECT
        or not subject.isprintable()  # else the database may not take it
    ):
        raise AnswerInvalid("The claim sub is no text of 1 to 255 characters.")
    mail = claims.get("email")
    mail = mail if isinstance(mail, str) and len(mail) <= 254 and mail.isprintable() else ""  # noqa: PLR2004 - of RFC 5321
    return VouchedPerson(
        issuer=issuer,
        subject=subject,
        name=_name_in(claims),
        mail=mail,
        is_mail_confirmed=claims.get("email_verified") is True,
        groups=groups_in(claims, groups_claim),
    )


def has_groups(claims: Mapping[str, Any], claim: str) -> bool:
    return _claimed(claims, claim) is not None


def groups_in(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    """Return the groups in a claim; `a.b` may also be `b` within `a`. No claim: no groups.

    Raises:
        AnswerInvalid: it is neither a list of names nor a name.
        TooManyGroups: see MOST_GROUPS.
    """
    value = _claimed(claims, claim)
    if value is None and _are_elsewhere(claims, claim):
        raise TooManyGroups(f"The claim {claim} is kept elsewhere, as Entra ID keeps long ones.")
    listed = [value] if isinstance(value, str) else value if value is not None else []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise AnswerInvalid(f"The claim {claim} is no list of names.")
    if len(listed) > MOST_GROUPS:
        raise TooManyGroups(f"The claim {claim} has {len(listed)} groups, above {MOST_GROUPS}.")
    return frozenset(one for one in listed if len(one) <= LONGEST_GROUP)


def _are_elsewhere(claims: Mapping[str, Any], claim: str) -> bool:
    """True if there are groups that the answer leaves out; without any is somebody else."""
    distributed = claims.get("_claim_names")
    is_distributed = isinstance(distributed, dict) and claim in distributed
    return is_distributed or claims.get("hasgroups") in (True, "true")


def _claimed(claims: Mapping[str, Any], claim: str) -> Any:
    found: Any = claims.get(claim)
    if found is None and "." in claim:
        found = claims
        for step in claim.split("."):
            found = found.get(step) if isinstance(found, dict) else None
    return found


def _name_in(claims: Mapping[str, Any]) -> str:
    """Return a name that an account may have."""
    for claim in _NAMES:
        value = claims.get(claim)
        if isinstance(value, str):
            plain = unicodedata.normalize("NFKC", value[: 2 * LONGEST_NAME])
            if name := _NOT_OF_NAMES.sub("-", plain).strip("-.")[:LONGEST_NAME]:
                return name
    return "person"
