"""Which version of something has a request seen? It says so in `If-Match`."""

from __future__ import annotations

import re
from typing import Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

_NUMBER: Final = re.compile(r'"?[0-9]{1,9}"?')
_TEXT: Final = re.compile(r'"?[0-9a-f]{16}"?')


def _parameter(pattern: re.Pattern[str]) -> OpenApiParameter:
    return OpenApiParameter(
        "If-Match",
        {"type": "string", "pattern": f"^{pattern.pattern}$"},
        OpenApiParameter.HEADER,
        required=True,
    )


NUMBERED: Final = _parameter(_NUMBER)
TEXTUAL: Final = _parameter(_TEXT)


def number_of(request: Request) -> int:
    """Raises: ValidationError."""
    return int(_seen(request, _NUMBER, "a number"))


def text_of(request: Request) -> str:
    """Raises: ValidationError."""
    return _seen(request, _TEXT, "16 letters and digits")


def _seen(request: Request, pattern: re.Pattern[str], what: str) -> str:
    text = request.headers.get("If-Match", "")
    if not pattern.fullmatch(text):
        raise ValidationError({"If-Match": f"Send the `version` that you have read, {what}."})
    return text.strip('"')
