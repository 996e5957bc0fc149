"""How does somebody accept an invitation? With their account, or with one that they make for it."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import sign_in
from tenancy.access import invitations
from tenancy.access.addresses import address_of
from tenancy.audit import records
from tenancy.errors import NoNewAccounts

from control_plane.api.people.personal_tokens import person_of
from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api.requests import body

_BACKEND: Final = "tenancy.sign_in.ThrottledBackend"


class InvitationKeyBody(serializers.Serializer[Any]):
    key = serializers.RegexField(rf"^{invitations.PREFIX}[A-Za-z0-9_-]{{43}}$")


class NewAccountBody(InvitationKeyBody):
    username = serializers.RegexField(  # chosen by a stranger: no letter that looks like another
        r"^[A-Za-z0-9][A-Za-z0-9_.@+-]{0,149}$",
        error_messages={
            "invalid": "Use letters from a to z, digits and @ . + - _, up to 150 of them; begin"
            " with a letter or a digit."
        },
    )
    password = serializers.CharField(max_length=1000, trim_whitespace=False)


class OpenInvitationSerializer(serializers.Serializer[Any]):
    """What somebody is invited to."""

    team = serializers.CharField(source="team.name")
    role = serializers.CharField()
    invited_by = serializers.CharField(source="invited_by.username")
    expires_at = serializers.DateTimeField()
    makes_accounts = serializers.SerializerMethodField(
        help_text="True: whoever has no account makes one with a password."
    )

    def get_makes_accounts(self, _: object) -> bool:
        return bool(settings.CONCERTINA.invited_make_accounts)


class JoinedTeamSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    role = serializers.CharField()


class InvitationLookUpView(APIView):
    parser_classes = (BoundedJsonParser,)
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="look_up_invitation",
        summary="What an invitation is to",
        request=InvitationKeyBody,
        responses=OpenInvitationSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        _count(request)
        found = invitations.look_up(body(request, InvitationKeyBody)["key"])
        return Response(OpenInvitationSerializer(found).data)


class InvitationAcceptanceView(APIView):
    parser_classes = (BoundedJsonParser,)

    @extend_schema(
        operation_id="accept_invitation",
        summary="Become a member by an invitation",
        description="For people who are logged in with a browser.",
        request=InvitationKeyBody,
        responses=JoinedTeamSerializer,
    )
    def post(self, request: Request) -> Response:
        person = person_of(request)
        _count(request)
        found = invitations.accept(person, body(request, InvitationKeyBody)["key"])
        records.note_target(team_id=found.team_id)
        return Response(JoinedTeamSerializer({"team": found.team.name, "role": found.role}).data)


class InvitationJoiningView(APIView):
    parser_classes = (BoundedJsonParser,)
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="join_by_invitation",
        summary="Make an account by an invitation, become a member with it, and log in",
        request=NewAccountBody,
        responses={201: JoinedTeamSerializer},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        _count(request)
        if not settings.CONCERTINA.invited_make_accounts:
            raise NoNewAccounts
        wanted = body(request, NewAccountBody)
        name, password, key = wanted["username"], wanted["password"], wanted["key"]
        found = invitations.look_up(key)
        try:
            validate_password(password, User(username=name))
        except ValidationError as problem:
            raise serializers.ValidationError({"password": list(problem.messages)}) from problem
        person = invitations.join(name, password, key)
        login(request._request, person, backend=_BACKEND)  # noqa: SLF001 - DRF gives no other way
        get_token(request._request)  # noqa: SLF001 - see above
        records.note_target(team_id=found.team_id)
        answer = JoinedTeamSerializer({"team": found.team.name, "role": found.role})
        return Response(answer.data, status=status.HTTP_201_CREATED)


def _count(request: Request) -> None:
    """Count attempts of an address. Raises: TooManyAttempts."""
    sign_in.count_vouched(address_of(request._request), "invited")  # noqa: SLF001 - DRF gives no other way
