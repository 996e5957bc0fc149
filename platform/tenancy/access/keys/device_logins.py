"""How does a command line get a token of a person who never types a password into it?

As RFC 8628 says: it gets two codes. It shows the short one to the person, who types it where they
are signed in, sees what is asked, and says yes or no. With the long one it asks how that went, and
redeems a yes for a token. Only digests of codes are stored, that of the short one with the
service's own key: short codes could be guessed from plain digests.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from tenancy.access.keys import personal_tokens, tokens
from tenancy.audit import records
from tenancy.buckets import SharedBuckets, TokenBucket
from tenancy.errors import (
    ComeBackLater,
    DeviceLoginEnded,
    DeviceLoginUnknown,
    DeviceLoginWaits,
    PolledTooOften,
)
from tenancy.models import DeviceLogin, PersonalToken

LASTS: Final = timedelta(minutes=10)
INTERVAL_SECONDS: Final = 3  # between two polls; longer than an idle connection is kept
MOST: Final = 500  # that wait at once, guessed
MOST_OF_ADDRESS: Final = 20  # guessed: an office may be one address
DEVICE_PREFIX: Final = "cd_"
LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words; nothing that looks like another
USER_CODE_LENGTH: Final = 8
_POLLS_AT_ONCE: Final = 3
_TRIES: Final = (20, 1 / 30)  # of a person: at once, and a second; a login takes two
_ADDING: Final = 0x436F4C67  # the number of the lock; any that nothing else uses
_SALT: Final = "concertina.device-login"


def start(
    *, name: str, days: int | None, scopes: Collection[str], address: str
) -> tuple[DeviceLogin, str, str]:
    """Let a command line wait; the other values are its long code and the short one.

    Raises: ComeBackLater, as many wait as may.
    """
    device_code = tokens.new_key(DEVICE_PREFIX)
    user_code = "".join(secrets.choice(LETTERS) for _ in range(USER_CODE_LENGTH))
    now = timezone.now()
    with transaction.atomic():
        _check_room(address)
        made = DeviceLogin.objects.create(
            device_digest=tokens.digest(device_code),
            user_digest=_digest_of_short(user_code),
            name=name,
            days=days,
            scopes=sorted(set(scopes)),
            address=address,
            asked_at=now,
            expires_at=now + LASTS,
        )
    records.note_change(after=_told(made))
    half = USER_CODE_LENGTH // 2
    return made, device_code, f"{user_code[:half]}-{user_code[half:]}"


def state_of(device_code: str) -> str:
    """Return what became of a login. It costs one statement.

    Raises:
        PolledTooOften: nothing was looked up.
        DeviceLoginEnded: it was redeemed, or has expired.
    """
    digest = tokens.digest(device_code)
    key = f"concertina:device-login:poll:{digest[:32]}"
    taken = buckets().take(
        [TokenBucket(key=key, capacity=_POLLS_AT_ONCE, per_second=1 / INTERVAL_SECONDS)]
    )
    if not taken.is_allowed:
        raise PolledTooOften(
            f"Ask every {INTERVAL_SECONDS} s at most.", wait_seconds=taken.wait_seconds
        )
    state = _current().filter(device_digest=digest).values_list("state", flat=True).first()
    if state is None:
        raise DeviceLoginEnded
    return state


def redeem(device_code: str, *, longest_days: int) -> tuple[PersonalToken, str]:
    """Turn a yes into a token, once; the second value is its key. It is held until it ends.

    What the person may is asked anew: they may have lost it since they said yes.

    Raises:
        DeviceLoginEnded: it was redeemed or refused, or has expired.
        DeviceLoginWaits: nobody has answered.
        TenancyError: as personal_tokens.make.
    """
    with transaction.atomic():
        held = _current().select_for_update(of=("self",)).select_related("person")
        login = held.filter(device_digest=tokens.digest(device_code)).first()
        if login is None or login.state == DeviceLogin.State.REFUSED:
            raise DeviceLoginEnded
        if login.person is None:
            raise DeviceLoginWaits
        if not login.person.is_active:
            raise DeviceLoginEnded
        login.delete()
        records.note_person(login.person.pk, login.person.get_username())
        return personal_tokens.make(
            login.person,
            login.name,
            days=login.days,
            longest_days=longest_days,
            scopes=login.scopes,
            replaces=True,
        )


def look_up(person: User, user_code: str) -> DeviceLogin:
    """Return the login that waits with this short code, for the person to see what it asks.

    Raises:
        ComeBackLater: the person has tried too many codes.
        DeviceLoginUnknown: none waits.
    """
    _count_try(person)
    found = _waiting(user_code).first()
    if found is None:
        raise DeviceLoginUnknown
    return found


def confirm(person: User, user_code: str, *, longest_days: int) -> None:
    """Say yes in the name of this person.

    Raises:
        ComeBackLater: the person has tried too many codes.
        DeviceLoginUnknown: none waits.
        TenancyError: as personal_tokens.check_may_be_made.
    """
    login = look_up(person, user_code)
    personal_tokens.check_may_be_made(
        person, days=login.days, longest_days=longest_days, scopes=login.scopes
    )
    _answer(login, person, DeviceLogin.State.CONFIRMED)


def refuse(person: User, user_code: str) -> None:
    """Say no. Raises: as `look_up`."""
    _answer(look_up(person, user_code), person, DeviceLogin.State.REFUSED)


def replaces(person: User, login: DeviceLogin) -> bool:
    """True if a token of the person ends when this one is made."""
    return personal_tokens.valid_of(person).filter(name=login.name).exists()


@cache
def buckets() -> SharedBuckets:
    """Return the buckets of this process."""
    return SharedBuckets(settings.CONCERTINA.redis_url)


def _current() -> QuerySet[DeviceLogin]:
    return DeviceLogin.objects.filter(expires_at__gt=timezone.now())


def _waiting(user_code: str) -> QuerySet[DeviceLogin]:
    letters = "".join(one for one in user_code.upper() if one in LETTERS)
    return _current().filter(user_digest=_digest_of_short(letters), state=DeviceLogin.State.PENDING)


def _answer(login: DeviceLogin, person: User, state: str) -> None:
    """Note a yes or no, once. Raises: DeviceLoginUnknown, somebody was faster."""
    left = _current().filter(pk=login.pk, state=DeviceLogin.State.PENDING)
    if left.update(state=state, person=person) != 1:
        raise DeviceLoginUnknown
    records.note_change(after={**_told(login), "state": str(state)})


def _check_room(address: str) -> None:
    """Forget what expired; one at a time, so that no two come above the bound together.

    Raises: ComeBackLater, as many wait as may.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ADDING])
    DeviceLogin.objects.exclude(expires_at__gt=timezone.now()).delete()
    waiting = DeviceLogin.objects.aggregate(
        all=Count("pk"), of_address=Count("pk", filter=Q(address=address))
    )
    if waiting["all"] >= MOST or waiting["of_address"] >= MOST_OF_ADDRESS:
        raise ComeBackLater(
            "As many logins wait for somebody to confirm them as may.",
            wait_seconds=LASTS.total_seconds(),
        )


def _count_try(person: User) -> None:
    """Raise: ComeBackLater, if the person has tried many codes lately."""
    capacity, per_second = _TRIES
    key = f"concertina:device-login:tries:{person.pk}"
    taken = buckets().take([TokenBucket(key=key, capacity=capacity, per_second=per_second)])
    if not taken.is_allowed:
        raise ComeBackLater("You have tried many codes.", wait_seconds=taken.wait_seconds)


def _digest_of_short(letters: str) -> str:
    return salted_hmac(_SALT, letters, algorithm="sha256").hexdigest()


def _told(login: DeviceLogin) -> dict[str, Any]:
    """Return what the audit log tells of it."""
    return {"name": login.name, "scopes": login.scopes, "asked_from": login.address}
