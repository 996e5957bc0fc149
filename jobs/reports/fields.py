"""Which values may a report hold, and what becomes of others?

Every number has both bounds, every text and every list a length. A value that makes no sense
becomes the one that means "not known", so that the rest of the report is kept.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from concertina_worker.protocol import LONGEST_WARNING

MOST_VALUES: Final = 64  # metrics a script may log; guessed, bounds the size of a row
_LONGEST_TEXT: Final = 2000
LONGEST_NAME: Final = 80
_SMALLEST: Final = 1e-9  # above 0: quotients of two numbers of a report stay finite
_LARGEST: Final = 1e15
_LARGEST_LOGGED: Final = 1e100  # a loss that diverges is logged as it is; sums of it stay finite
LARGEST_COUNT: Final = 10**15
_LARGEST_BATCH: Final = 10**9
LATEST: Final = 32_503_680_000  # the year 3000


def clean(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Take out null characters and lone surrogates, which PostgreSQL does not store."""
    return text[:longest].replace("\0", "").encode(errors="replace").decode()


def newest(most: int) -> BeforeValidator:
    """Keep only the last entries of a list: a longer list must not block the next report."""
    return BeforeValidator(lambda value: value[-most:] if isinstance(value, list) else value)


def as_number(value: Any, *, largest: float = _LARGEST) -> float | None:
    """Return the number; None if it is none or too large. A whole number may have any length."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and -largest <= value <= largest else None


def storable(values: object) -> dict[str, float | None]:
    """Keep the first metrics with sensible names; numbers beyond bounds become null."""
    if not isinstance(values, dict):
        return {}
    kept = list(values.items())[:MOST_VALUES]
    return {
        clean(str(name), LONGEST_NAME): as_number(value, largest=_LARGEST_LOGGED)
        for name, value in kept
    }


def _positive(value: object) -> float | None:
    """Return the number above 0; anything else counts as not reported."""
    number = as_number(value)
    return number if number is not None and number >= _SMALLEST else None


def _known(value: object) -> float | None:
    """Return the same where 0 makes sense; numbers next to 0 are 0."""
    number = as_number(value)
    if number is None or number < 0:
        return None
    return number if number >= _SMALLEST else 0.0


def _whole(value: object, most: int = LARGEST_COUNT) -> int | None:
    number = as_number(value, largest=most)
    return int(number) if number is not None and number >= 0 else None


def _batch(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 1 <= value <= _LARGEST_BATCH else None


def _moment(value: object) -> datetime:
    seconds = as_number(value, largest=LATEST)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        raise ValueError("is not a moment in Unix seconds")
    return datetime.fromtimestamp(seconds, tz=UTC)


def _or_zero(value: object) -> float:
    return _known(value) or 0.0


Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
LargeCount = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
Amount = Annotated[float, BeforeValidator(_or_zero)]
SignedAmount = Annotated[float, BeforeValidator(lambda value: as_number(value) or 0.0)]
ReportedTime = Annotated[datetime, BeforeValidator(_moment)]
Text = Annotated[str, AfterValidator(clean)]
Sentence = Annotated[str, AfterValidator(lambda text: clean(text, LONGEST_WARNING))]
WorkerId = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9._-]+$")]
Values = Annotated[dict[str, float | None], BeforeValidator(storable)]
Positive = Annotated[float | None, BeforeValidator(_positive)]
Known = Annotated[float | None, BeforeValidator(_known)]
KnownCount = Annotated[int | None, BeforeValidator(_whole)]
BatchLimit = Annotated[int | None, BeforeValidator(_batch)]
