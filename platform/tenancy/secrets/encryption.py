"""How are values stored that nobody may read in the database? Encrypted, with the service's key.

The key is derived from `SECRET_KEY` (HKDF, SHA-256), so that there is one secret to keep. What was
encrypted under an earlier key can be read as long as that key is among `SECRET_KEY_FALLBACKS`;
`reencrypt` brings it under the newest. See docs/decisions/0037.
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


class CannotDecrypt(Exception):
    """This was encrypted under another key, or for another place."""


def encrypt(values: Mapping[str, object], *, place: str) -> str:
    """Encrypt for one place; it cannot be decrypted for another, so rows cannot be swapped."""
    return _keys().encrypt(json.dumps([place, values]).encode()).decode()


def decrypt(encrypted: str, *, place: str) -> dict[str, object]:
    """Decrypt what `encrypt` made for this place.

    Raises:
        CannotDecrypt: none of the keys fits, or it was made for another place.
    """
    try:
        found, values = json.loads(_keys().decrypt(encrypted.encode()))
    except InvalidToken:
        raise CannotDecrypt from None
    if found != place:
        raise CannotDecrypt
    decrypted: dict[str, object] = values
    return decrypted


def reencrypt(encrypted: str) -> str:
    """Encrypt the same values under the newest key.

    Raises:
        CannotDecrypt: none of the keys fits.
    """
    try:
        return _keys().rotate(encrypted.encode()).decode()
    except InvalidToken:
        raise CannotDecrypt from None


def _keys() -> MultiFernet:
    """Return the newest key, which encrypts, then those that only decrypt."""
    return MultiFernet(
        [Fernet(_derived(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _derived(secret_key: str) -> bytes:
    derivation = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_PURPOSE)
    return base64.urlsafe_b64encode(derivation.derive(secret_key.encode()))
