"""How are values kept that nobody may read in the database? Encrypted, under the service's key.

The key is derived from `SECRET_KEY` (HKDF, SHA-256), so that there is one secret to keep. What was
sealed under an earlier key opens as long as that one is among `SECRET_KEY_FALLBACKS`; `reseal`
brings it under the newest. See docs/decisions/0037.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

_PURPOSE: Final = b"concertina team secrets 1"
_KEY_BYTES: Final = 32


class CannotOpen(Exception):
    """This was sealed under another key, or for another place."""


def seal(values: Mapping[str, object], *, place: str) -> str:
    """Encrypt; what is sealed for one place opens in no other, so that rows cannot be swapped."""
    return _keys().encrypt(json.dumps([place, values]).encode()).decode()


def open_sealed(sealed: str, *, place: str) -> dict[str, object]:
    """Decrypt what `seal` made for this place.

    Raises:
        CannotOpen: under none of the keys, or it was made for another place.
    """
    try:
        found, values = json.loads(_keys().decrypt(sealed.encode()))
    except InvalidToken:
        raise CannotOpen from None
    if found != place:
        raise CannotOpen
    opened: dict[str, object] = values
    return opened


def reseal(sealed: str) -> str:
    """The same under the newest key.

    Raises:
        CannotOpen: under none of the keys.
    """
    try:
        return _keys().rotate(sealed.encode()).decode()
    except InvalidToken:
        raise CannotOpen from None


def _keys() -> MultiFernet:
    """The newest, which encrypts, then those that only decrypt."""
    return MultiFernet(
        [Fernet(_derived(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _derived(secret_key: str) -> bytes:
    derivation = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_PURPOSE)
    return base64.urlsafe_b64encode(derivation.derive(secret_key.encode()))
