"""Can an address and its cookies be looked up? Not if they contain null characters.

PostgreSQL accepts none in a text, and no name of ours has one. Bodies: `plain_values`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from control_plane.web.answers.error_responses import refusal

_PROBLEM: Final = "contains a null character"
_REMEDY: Final = "Remove it."


class PlainAddressMiddleware:
    """Refuses a request with a null character in its path, query or cookies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        place = _place_of_null(request)
        if place is None:
            return self._get_response(request)
        detail = {"field": place, "value": None, "problem": _PROBLEM, "remedy": _REMEDY}
        return refusal(request, f"{place} {_PROBLEM}. {_REMEDY}", [detail])


def _place_of_null(request: HttpRequest) -> str | None:
    if "\0" in request.path:
        return "path"
    if "%00" in request.META.get("QUERY_STRING", ""):
        pairs = parse_qsl(request.META["QUERY_STRING"], keep_blank_values=True)
        named = (name.replace("\0", "") or "query" for name, value in pairs if "\0" in name + value)
        return next(named, None)
    if any("\0" in text for pair in request.COOKIES.items() for text in pair):
        return "cookie"
    return None
