"""Who is looking at the dashboard? Log in, log out, and say who is logged in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import PersonalTokenUser, principal_of_user

from control_plane.queries import notices
from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api import json_types


class CredentialsSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)


class UserSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    is_admin = serializers.BooleanField()
    teams = serializers.ListField(child=serializers.CharField())
    submits_for = serializers.ListField(
        child=serializers.CharField(), help_text="Teams for which they may submit jobs."
    )


class SessionSerializer(serializers.Serializer[Any]):
    user = UserSerializer()
    notices = serializers.ListField(
        child=serializers.CharField(), help_text="What whoever signs in should know; for people."
    )


class SessionView(APIView):
    """The session of a person's browser. Every answer renews the `csrftoken` cookie."""

    parser_classes = (BoundedJsonParser,)  # a foreign page's form cannot send JSON
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="get_session", summary="Who is logged in", responses=SessionSerializer
    )
    def get(self, request: Request) -> Response:
        get_token(request._request)  # noqa: SLF001 - DRF gives no other way to Django's request
        if not isinstance(request.user, User | PersonalTokenUser):
            raise exceptions.NotAuthenticated("Nobody is logged in.")
        return Response(_session_of(request.user))

    @extend_schema(
        operation_id="log_in",
        summary="Log in with a password",
        request=CredentialsSerializer,
        responses=SessionSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        given = CredentialsSerializer(data=request.data)
        json_types.check(given)
        given.is_valid(raise_exception=True)
        user = authenticate(request._request, **given.validated_data)  # noqa: SLF001 - see above
        if not isinstance(user, User):
            raise exceptions.AuthenticationFailed("The username or the password is wrong.")
        login(request._request, user)  # noqa: SLF001 - see above
        get_token(request._request)  # noqa: SLF001 - see above
        return Response(_session_of(user))

    @extend_schema(operation_id="log_out", summary="Log out", responses={204: None})
    def delete(self, request: Request) -> Response:
        logout(request._request)  # noqa: SLF001 - see above
        return Response(status=status.HTTP_204_NO_CONTENT)


def _session_of(user: User | PersonalTokenUser) -> dict[str, Any]:
    principal = principal_of_user(user)
    return {
        "user": {
            "username": principal.name,
            "is_admin": principal.is_admin,
            "teams": sorted(principal.seen),
            "submits_for": sorted(principal.teams_where(Permission.SUBMIT)),
        },
        "notices": notices.current(),
    }
