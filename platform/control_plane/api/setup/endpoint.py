"""What is the whole set-up, what would a document change of it, and how is it changed?"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of

from control_plane.api.setup.answers import SetupOutcomeSerializer, outcome_document
from control_plane.api.setup.documents import SetupBodySerializer, WholeSetupSerializer
from control_plane.setup import applying, stored, versions
from control_plane.setup.nesting import flattened, nested
from jobs.api import json_types
from jobs.api.requests import MomentField, query

_VERSION: Final = re.compile(r'"?[0-9a-f]{32}"?')


class SetupQuery(serializers.Serializer[Any]):
    as_of = MomentField(
        required=False,
        help_text="Say what it was at this moment. Later than now: what it is.",
    )


class SetupView(APIView):
    @extend_schema(
        operation_id="get_setup",
        summary="All that admins have set up, as one document (admins)",
        description="Pools with their policy, fair-share settings, prefetched images and nodes;"
        " teams with their limits, quotas, rules and templates. No secrets, people or tokens.",
        parameters=[SetupQuery],
        responses=WholeSetupSerializer,
    )
    def get(self, request: Request) -> Response:
        check_admin(request)
        moment = query(request, SetupQuery).get("as_of")
        if moment is not None and moment < timezone.now():
            return Response(_as_it_was(moment))
        found = stored.read()
        return Response({"version": found.version, "setup": nested(found.objects)})


class SetupPreviewView(APIView):
    @extend_schema(
        operation_id="preview_setup",
        summary="What a document would change of the set-up (admins)",
        description="Nothing is changed. It is refused as `apply_setup` would be.",
        request=SetupBodySerializer,
        responses=SetupOutcomeSerializer,
    )
    def post(self, request: Request) -> Response:
        check_admin(request)
        wanted = _body(request)
        outcome = applying.preview(flattened(wanted["setup"]), removes_others=wanted["prune"])
        return Response(outcome_document(outcome))


class SetupApplyView(APIView):
    @extend_schema(
        operation_id="apply_setup",
        summary="Change the set-up to what a document says, all or nothing (admins)",
        description="What the document leaves out stays, unless `prune` is true. With `If-Match`, a"
        " `version`, it is refused if somebody has changed the set-up meanwhile.",
        parameters=[
            OpenApiParameter(
                "If-Match",
                {"type": "string", "pattern": f"^{_VERSION.pattern}$"},
                OpenApiParameter.HEADER,
                required=False,
            )
        ],
        request=SetupBodySerializer,
        responses=SetupOutcomeSerializer,
    )
    def post(self, request: Request) -> Response:
        check_admin(request)
        wanted, version = _body(request), _version(request)
        outcome = applying.apply(
            flattened(wanted["setup"]), removes_others=wanted["prune"], version=version
        )
        return Response(outcome_document(outcome))


def check_admin(request: Request) -> None:
    """Raises: PermissionDenied."""
    if not principal_of(request).may_anywhere(Permission.ADMINISTER):
        raise exceptions.PermissionDenied("Only admins see and change what is set up.")


def checked(form: serializers.Serializer[Any]) -> dict[str, Any]:
    """Return what a form was given, if each value is of its type and within its bounds."""
    json_types.check(form)
    form.is_valid(raise_exception=True)
    found: dict[str, Any] = form.validated_data
    return found


def _as_it_was(moment: datetime) -> dict[str, Any]:
    found = versions.at(moment)
    if found is None:
        first = versions.first_known()
        known = f"before {first:%Y-%m-%dT%H:%M:%SZ}" if first else "yet"
        raise exceptions.ValidationError({"as_of": f"No set-up was written down {known}."})
    return {"version": found.version, "setup": found.setup}


def _body(request: Request) -> dict[str, Any]:
    return checked(SetupBodySerializer(data=request.data))


def _version(request: Request) -> str | None:
    text = request.headers.get("If-Match")
    if text is None:
        return None
    if not _VERSION.fullmatch(text):
        problem = "Send the set-up's `version`, or leave it out."
        raise exceptions.ValidationError({"If-Match": problem})
    return text.strip('"')
