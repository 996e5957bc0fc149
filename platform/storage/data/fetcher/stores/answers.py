"""What does it mean for a fetch when a store refuses, fails, or has something else now?"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from storage.data.fetcher.orders import ObjectChanged, SourceAway, UnusableSource

_MD5: Final = re.compile(r"[0-9a-f]{32}")
_GONE: Final = 404
_ELSE: Final = 412  # it is not the version that was asked for
_PASSES: Final = frozenset({408, 429})  # it took too long, or was asked too often


@asynccontextmanager
async def telling(what: str) -> AsyncIterator[None]:
    """Say in words what a store answers that does not do what it is asked.

    Raises:
        SourceAway: it may do so later.
        ObjectChanged: another version is there, or none.
        UnusableSource: it never will.
    """
    try:
        yield
    except (SourceAway, ObjectChanged, UnusableSource):
        raise
    except FileNotFoundError as problem:
        raise ObjectChanged(f"{what} is not there any more.") from problem
    except PermissionError as problem:
        raise UnusableSource(
            f"The store does not let us read {what}: {_short(problem)}. Check the secret."
        ) from problem
    except (MemoryError, AssertionError):
        raise
    except Exception as problem:
        code = _code(problem)
        if code in {_GONE, _ELSE}:
            raise ObjectChanged(f"{what} is another now, or gone.") from problem
        if code is not None and 400 <= code < 500 and code not in _PASSES:  # noqa: PLR2004
            raise UnusableSource(f"The store refuses {what}: {_short(problem)}.") from problem
        raise SourceAway(
            f"The store does not answer well for {what}: {_short(problem)}"
        ) from problem


def md5_of_base64(text: str) -> str:
    """Return a digest as headers have it in hexadecimal; "" if it is none."""
    try:
        found = base64.b64decode(text, validate=True).hex()
    except (binascii.Error, ValueError):
        return ""
    return found if is_md5(found) else ""


def is_md5(text: str) -> bool:
    """True for a digest in hexadecimal."""
    return _MD5.fullmatch(text) is not None


def _code(problem: BaseException) -> int | None:
    """Return the status of HTTP with which a store answered, if it did."""
    for name in ("status", "status_code"):  # aiohttp's name, and Microsoft's
        if isinstance(status := getattr(problem, name, None), int):
            return status
    response = getattr(problem, "response", None)
    if isinstance(response, dict):
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    return _code(problem.__cause__) if problem.__cause__ else None


def _short(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:300] or type(problem).__name__
