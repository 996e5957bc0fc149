"""Does whoever asks have this very answer already? Then it is not sent again.

A page asks the same every few seconds, and mostly nothing has changed. Browsers keep an answer with
a tag, and show the tag when they ask again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from tenancy.access.principal import PersonalTokenUser, TokenUser

from control_plane.web.repeated.shared_reads import SHARED

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_API: Final = "/api/"
_KEPT_BY_WHOEVER_ASKED: Final = "private, no-cache"  # to be shown only after it was asked for again


class UnchangedAnswersMiddleware:
    """Tags answers of the API, and answers 304 to whoever has that tag."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if request.method not in _READS:
            if name := _sender(request):
                SHARED.note_change(name)
            return response
        if request.method != "GET" or not isinstance(response, HttpResponse):  # but a stream
            return response
        return _tagged(request, response)


def _sender(request: HttpRequest) -> str:
    """Return the name of the person or token, as principals have it; empty: nobody is known."""
    user = request.__dict__.get("user")  # DRF puts its own there; Django's loads only when used
    if isinstance(user, TokenUser | PersonalTokenUser):
        return user.username
    person = request.__dict__.get("_cached_user")
    return person.get_username() if person is not None else ""


def _tagged(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    is_of_the_api = request.path.startswith(_API) and response.status_code == HTTPStatus.OK
    if not is_of_the_api or response.has_header("ETag"):
        return response
    tag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = tag
    response.headers.setdefault("Cache-Control", _KEPT_BY_WHOEVER_ASKED)
    return get_conditional_response(request, etag=tag, response=response) or response
