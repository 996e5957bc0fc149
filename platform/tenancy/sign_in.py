"""May this password be tried now? Guessing is slow, by name and by address, wherever one signs in.

Three buckets bound attempts: of a name from an address, of an address, of a name. Who has signed
in under a name from an address lately is bound by the first alone, so a guesser somewhere else does
not keep them out, nor one at the same address who tries other names. Who tries that very name from
that very address does, while they go on: nothing tells the two apart. A refused attempt costs no
password hash and takes nothing from any bucket, so a guesser at one address cannot use up a name's.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from tenancy.access.addresses import address_of
from tenancy.audit import records
from tenancy.buckets import SharedBuckets, TokenBucket, TokensTaken
from tenancy.errors import TenancyError

logger: Final = logging.getLogger(__name__)

# All guessed: people mistype now and then, programs guess all the time.
_OF_NAME_AND_ADDRESS: Final = (10, 1 / 60)  # at once, and a second
_OF_ADDRESS: Final = (60, 20 / 60)
_OF_NAME: Final = (30, 6 / 60)
_KNOWN_SECONDS: Final = 90 * 24 * 3600


class AttemptStore(Protocol):
    """A store in which attempts are counted, and successes noted."""

    def take(self, buckets: Sequence[TokenBucket]) -> TokensTaken: ...

    def forget(self, key: str) -> None: ...

    def remember(self, key: str, *, seconds: int) -> None: ...

    def remembers(self, key: str) -> bool: ...


class TooManyAttempts(TenancyError):
    """Too many attempts to sign in; try again later."""

    code, status = "too_many_requests", 429

    def __init__(self, wait_seconds: float) -> None:
        self.retry_after_seconds = max(math.ceil(wait_seconds), 1)
        super().__init__(
            "There were too many attempts to sign in under this name or from this address. Try"
            f" again in {self.retry_after_seconds} s; meanwhile the right password is refused, too."
        )


class ThrottledBackend(ModelBackend):
    """Django's users and passwords; passwords are tried only here."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the user, or None.

        Raises:
            TooManyAttempts: the password was not looked at.
        """
        if username is None or password is None:
            return None
        records.note_name(username)
        attempt = Attempt.of(username, address_of(request))
        attempt.begin(buckets())
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            attempt.succeed(buckets())
        return user


class ThrottledLoginForm(AdminAuthenticationForm):
    """The admin site's form; it says when to try again."""

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except TooManyAttempts as refusal:
            raise ValidationError(str(refusal), code=refusal.code) from refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A password that is tried under a name from an address; both as digests, of bounded length."""

    name: str
    address: str

    @classmethod
    def of(cls, name: str, address: str) -> Attempt:
        return cls(name=_digest(name.casefold()), address=_digest(address))

    def begin(self, counted: AttemptStore) -> None:
        """Count the attempt.

        Raises:
            TooManyAttempts: nothing was counted.
        """
        taken = counted.take(self._bounds(is_known=counted.remembers(self._known)))
        if not taken.is_allowed:
            logger.warning("An attempt to sign in is refused.", extra={"action": "sign_in"})
            raise TooManyAttempts(taken.wait_seconds)

    def succeed(self, counted: AttemptStore) -> None:
        """Note that this name is known at this address from now on."""
        counted.forget(self._key)
        counted.remember(self._known, seconds=_KNOWN_SECONDS)

    def _bounds(self, *, is_known: bool) -> list[TokenBucket]:
        own = _bucket(self._key, _OF_NAME_AND_ADDRESS)
        if is_known:
            return [own]
        return [
            own,
            _bucket(f"concertina:sign-in:address:{self.address}", _OF_ADDRESS),
            _bucket(f"concertina:sign-in:name:{self.name}", _OF_NAME),
        ]

    @property
    def _key(self) -> str:
        return f"concertina:sign-in:{self.name}:{self.address}"

    @property
    def _known(self) -> str:
        return f"concertina:known:{self.name}:{self.address}"


def count_vouched(address: str, step: str) -> None:
    """Count a step of a sign-in by somebody else's word, who has passwords of their own to guard.

    Raises:
        TooManyAttempts: nothing was counted.
    """
    bucket = _bucket(f"concertina:sign-in:vouched:{step}:{_digest(address)}", _OF_ADDRESS)
    taken = buckets().take([bucket])
    if not taken.is_allowed:
        raise TooManyAttempts(taken.wait_seconds)


@cache
def buckets() -> SharedBuckets:
    """Return the buckets of this process."""
    return SharedBuckets(settings.CONCERTINA.redis_url)


def _bucket(key: str, bound: tuple[int, float]) -> TokenBucket:
    capacity, per_second = bound
    return TokenBucket(key=key, capacity=capacity, per_second=per_second)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
