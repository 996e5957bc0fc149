"""Which account is that of a person for whom the provider vouches, and what may they do now?

An account is found by issuer and subject alone. One that happens to have the same name or the same
mail address is somebody else's, until an admin says otherwise.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Lower

from tenancy.models import ProviderIdentity
from tenancy.single_sign_on import places
from tenancy.single_sign_on.claims import LONGEST_NAME, VouchedPerson
from tenancy.single_sign_on.refusals import (
    AccountSwitchedOff,
    MailNotAdmitted,
    NotInAGroup,
    SignInRefused,
)
from tenancy.single_sign_on.terms import GroupTerms

_MOST_ALIKE: Final = 50  # names of which one is tried after the other


@dataclass(slots=True, kw_only=True)
class AdmittedPerson:
    """What became of somebody at the door: their account, or why there is none for them."""

    person: User | None
    refusal: SignInRefused | None = None
    is_new: bool = False
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


def admit(vouched: VouchedPerson, terms: GroupTerms, *, now: datetime) -> AdmittedPerson:
    """Bring the person's account and rights in order; to be called within a transaction.

    Nothing is raised, because what is taken from somebody who is refused has to be stored.
    """
    identity = _known(vouched)
    if not vouched.is_admitted(terms):
        refusal = _refusal(vouched, terms)
        if identity is None:
            return AdmittedPerson(person=None, refusal=refusal)
        shut = _shut_out(identity)
        shut.refusal = refusal
        return shut
    is_new = identity is None
    identity = identity or _made(vouched)
    person = identity.person
    if not person.is_active and not identity.is_shut_out:
        return AdmittedPerson(person=person, refusal=AccountSwitchedOff())
    before, after = _let_in(identity, vouched, terms, now)
    return AdmittedPerson(person=person, is_new=is_new, before=before, after=after)


def take_what_groups_gave(identity: ProviderIdentity) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take roles and the mark of an admin, as far as groups gave them; return what changed."""
    before, after = places.bring_up_to_date(identity.person, {})
    if _mark_admin(identity, is_admin=False):
        before, after = {**before, "is_admin": True}, {**after, "is_admin": False}
    return before, after


def _known(vouched: VouchedPerson) -> ProviderIdentity | None:
    """Return the person's identity, held so that one sign-in of theirs follows the other."""
    held = ProviderIdentity.objects.select_for_update(of=("self",)).select_related("person")
    return held.filter(issuer=vouched.issuer, subject=vouched.subject).first()


def _refusal(vouched: VouchedPerson, terms: GroupTerms) -> SignInRefused:
    if terms.mail_domains:
        return MailNotAdmitted(f"mail {vouched.mail!r}, confirmed: {vouched.is_mail_confirmed}")
    return NotInAGroup(f"groups {sorted(vouched.groups)[:20]}")


def _shut_out(identity: ProviderIdentity) -> AdmittedPerson:
    """Take all rights; sessions and tokens of an account that is off end with it.

    An admin whom people made one keeps the account: it may be the last one that can repair things.
    """
    before, after = take_what_groups_gave(identity)
    person = identity.person
    if person.is_active and not person.is_superuser:
        person.is_active = False
        person.save(update_fields=["is_active"])
        identity.is_shut_out = True
        identity.save(update_fields=["is_shut_out"])
        before, after = {**before, "is_active": True}, {**after, "is_active": False}
    return AdmittedPerson(person=person, before=before, after=after)


def _let_in(
    identity: ProviderIdentity, vouched: VouchedPerson, terms: GroupTerms, now: datetime
) -> tuple[dict[str, Any], dict[str, Any]]:
    person = identity.person
    before, after = places.bring_up_to_date(person, terms.roles_of(vouched.groups))
    if identity.is_shut_out:
        identity.is_shut_out, person.is_active = False, True
        person.save(update_fields=["is_active"])
        before, after = {**before, "is_active": False}, {**after, "is_active": True}
    is_admin = terms.makes_admin(vouched.groups)
    if _mark_admin(identity, is_admin=is_admin):
        before, after = {**before, "is_admin": not is_admin}, {**after, "is_admin": is_admin}
    identity.mail, identity.confirmed_at = vouched.mail, now
    identity.save(update_fields=["mail", "confirmed_at", "is_shut_out"])
    return before, after


def _mark_admin(identity: ProviderIdentity, *, is_admin: bool) -> bool:
    """Make them an admin, or no longer one, by the group; return whether that changed anything."""
    person = identity.person
    if is_admin == person.is_superuser or not (is_admin or identity.made_admin):
        return False  # people made them one
    person.is_superuser = person.is_staff = is_admin
    person.save(update_fields=["is_superuser", "is_staff"])
    identity.made_admin = is_admin
    identity.save(update_fields=["made_admin"])
    return True


def _made(vouched: VouchedPerson) -> ProviderIdentity:
    """Make an account, and note whose it is.

    Raises:
        IntegrityError: another request has just done so, or has taken the name.
    """
    with transaction.atomic():
        person = User.objects.create_user(_free_name(vouched.name), email="")
        return ProviderIdentity.objects.create(
            person=person, issuer=vouched.issuer, subject=vouched.subject
        )


def _free_name(wanted: str) -> str:
    """Return the name, or one with a number after it; large and small letters are one name."""
    base = wanted.lower()[:LONGEST_NAME]  # some letters are two when they are small
    alike = User.objects.annotate(small=Lower("username")).filter(small__startswith=base)
    taken = set(alike.values_list("small", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, _MOST_ALIKE))
    free = (name for name in (base, *numbered) if name not in taken)
    return next(free, f"{base}-{secrets.token_hex(4)}")
