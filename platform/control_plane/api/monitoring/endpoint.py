"""The endpoint of metrics: `/metrics`, where Prometheus looks by itself.

It is no operation of the API, and not in its description: what it answers is no JSON, and its
format is Prometheus' own.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView
from tenancy.access.principal import Principal

from control_plane.api.monitoring.exposition import CONTENT_TYPE, exposed
from control_plane.api.monitoring.scrapers import MayReadMetrics, ScraperAuthentication
from control_plane.web.repeated.shared_reads import SHARED

_WHOEVER_MAY: Final = Principal(name="metrics", seen={}, is_admin=True)  # they all see the same


@extend_schema(exclude=True)
class ScrapeView(APIView):
    authentication_classes = (ScraperAuthentication, SessionAuthentication)
    permission_classes = (MayReadMetrics,)

    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002 - DRF's signature
        body = SHARED.read("metrics", by=_WHOEVER_MAY, read=exposed)
        return HttpResponse(body, content_type=CONTENT_TYPE)
