"""In which form is a request answered? In one that it accepts, else as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class ForgivingNegotiation(DefaultContentNegotiation):
    """Answers whatever `Accept` and `?format=` ask for; errors have the envelope."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        try:
            fitting: tuple[BaseRenderer, str] = super().select_renderer(
                request, renderers, format_suffix
            )
        except (NotAcceptable, Http404):
            first = next(iter(renderers))
            return first, first.media_type
        return fitting
