"""What does the API's description look like? It is the same for everybody, so it is written once.

Describing the API takes a thread for a second or more, and nobody needs a credential to ask.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class SchemaView(SpectacularAPIView):
    """drf-spectacular's, which would do all of it for each request."""

    def _get_schema_response(self, request: Request) -> HttpResponseBase:
        renderer: BaseRenderer = request.accepted_renderer
        name = self._get_filename(request, None)  # type: ignore[no-untyped-call]  # theirs is untyped
        return HttpResponse(
            description(type(renderer)),  # type: ignore[arg-type]  # the stubs forget that classes hash
            content_type=f"{renderer.media_type}; charset=utf-8",
            headers={"Content-Disposition": f'inline; filename="{name}"'},
        )


@cache
def description(renderer: type[BaseRenderer]) -> bytes:
    """Return the whole description in the renderer's format; each process makes it once."""
    document: Any = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    written: bytes | str = renderer().render(document, renderer_context={})
    return written.encode() if isinstance(written, str) else written
