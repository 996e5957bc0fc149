"""Does whoever asks take compressed answers? Then texts of the API travel in a tenth of the bytes.

Files are as their owners packed them, and streams compress what they send by themselves.
"""

from __future__ import annotations

import re
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request

LEAST_BYTES: Final = 1024  # what is shorter fits into a packet anyhow
_API: Final = "/api/"
_GZIP: Final = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
_TEXTS: Final = (
    "application/json",
    "application/vnd.oai.openapi",
    "application/vnd.oai.openapi+json",
    "text/csv",
)


class CompressedAnswersMiddleware(GZipMiddleware):
    """Django's, which also hides the length of what a guesser might compare; for texts alone."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path.startswith(_API) or not _is_long_text(response):
            return response
        if not takes_gzip(request):
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        return super().process_response(request, response)


def takes_gzip(request: HttpRequest | Request) -> bool:
    """True if it is named, and not refused by a weight of zero."""
    return bool(_GZIP.search(request.headers.get("Accept-Encoding", "")))


def _is_long_text(response: HttpResponseBase) -> bool:
    if not isinstance(response, HttpResponse) or len(response.content) < LEAST_BYTES:
        return False
    return response.headers.get("Content-Type", "").partition(";")[0] in _TEXTS
