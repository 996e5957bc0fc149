"""In which thread does a request go through Django? Whole in one: middleware, view and all.

Django's own handler runs middleware that can on the event loop, and hands what cannot over to the
request's thread, half a dozen times there and back. Our views and the database are for threads, so
nothing is gained by that; and each time the request waits until the loop, or its thread, gets the
interpreter from whoever computes.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class WholeRequestsHandler(ASGIHandler):
    """Django's handler, but for that."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - as Django calls it
        """Load all of it for threads."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request in the thread that it was given."""
        answer: Any = sync_to_async(self.get_response, thread_sensitive=True)
        response: HttpResponseBase = await answer(request)
        return response
