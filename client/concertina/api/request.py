"""What is asked of the service, as a value? Nothing here sends it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY: Final = "Idempotency-Key"
_REPEATABLE: Final = frozenset({"GET", "PUT"})  # a second one finds what the first one left
_NO_NAMES: Final = frozenset({"", ".", ".."})  # with which an address would be another


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """One request. Those that do something once must not be sent twice: see `is_repeatable`."""

    method: str
    path: str  # below the API's
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None  # sent as JSON
    content: bytes | None = None  # sent as it is
    is_repeatable: bool = True  # after a broken connection, of which nobody knows what it did

    @classmethod
    def of(
        cls,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | None = None,
    ) -> ApiRequest:
        """Return the request of an operation; what is None is left out."""
        told = {name: str(value) for name, value in (headers or {}).items() if value is not None}
        return cls(
            method=method,
            path=path,
            params={
                name: _as_parameter(value)
                for name, value in (params or {}).items()
                if value is not None
            },
            headers=told,
            body=body,
            content=content,
            is_repeatable=method in _REPEATABLE or KEY in told,
        )


def segment(name: str | int | date) -> str:
    """Return a name as a segment of an address. Raises: BadInput (no address has it)."""
    text = str(name)
    if text in _NO_NAMES:
        raise BadInput(f"{text!r} is not a name that can be asked for.")
    return quote(text, safe="")


def one_key(given: str | None) -> str:
    """Return a key by which the service knows a repetition: the one that is given, or a new one.

    Raises:
        BadInput: it cannot be sent.
    """
    key = str(uuid.uuid4()) if given is None else given
    if not fits_a_header(key):
        raise BadInput(f"{key!r} is not an idempotency key. Use letters, digits and hyphens.")
    return key


def as_version(version: str | int | None) -> str | None:
    """Return a version that was read as `If-Match` has it."""
    return None if version is None else '"{}"'.format(str(version).strip('"'))


def fits_a_header(text: str) -> bool:
    """True if HTTP can carry the text in a header: printable ASCII."""
    return bool(text) and text.isascii() and text.isprintable()


def _as_parameter(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple | list | set | frozenset) else value
