"""How does a command line get a token without a password? Somebody says yes in their browser."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.addresses import address_of
from tenancy.access.keys import device_logins, personal_tokens
from tenancy.models import DeviceLogin, TokenScope

from control_plane.api.people.personal_tokens import (
    MadePersonalTokenSerializer,
    PersonalTokenBody,
    PersonalTokenSerializer,
    person_of,
)
from control_plane.api.teams.tokens import days_of, shown_once
from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api.requests import body

_LONGEST_ADDRESS: Final = 64  # as the column has it


class StartedDeviceLoginSerializer(serializers.Serializer[Any]):
    device_code = serializers.CharField(help_text="For the command line alone.")
    user_code = serializers.CharField(
        help_text="For the person, who types it on the page `/device` of the dashboard."
    )
    expires_in = serializers.IntegerField(help_text="Seconds for which both codes are good.")
    interval = serializers.IntegerField(help_text="Seconds between two polls, at least.")


class DeviceCodeBody(serializers.Serializer[Any]):
    device_code = serializers.RegexField(rf"^{device_logins.DEVICE_PREFIX}[A-Za-z0-9_-]{{43}}$")


class UserCodeBody(serializers.Serializer[Any]):
    user_code = serializers.RegexField(
        r"^[A-Za-z]{4}[ -]?[A-Za-z]{4}$",
        error_messages={"invalid": "A code is 8 letters, like BCDF-GHJK."},
    )


class DeviceLoginStateSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=DeviceLogin.State.choices)


class DeviceLoginSerializer(serializers.ModelSerializer[DeviceLogin]):
    """What a command line asks for."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=TokenScope.choices))
    days = serializers.IntegerField(allow_null=True, help_text="null: its token never expires.")
    is_your_address = serializers.BooleanField(help_text="It asks from where you do.")
    replaces = serializers.BooleanField(help_text="A token of yours of this name ends.")

    class Meta:
        model = DeviceLogin
        fields = (
            *("name", "scopes", "days", "address", "is_your_address", "replaces"),
            *("asked_at", "expires_at"),
        )


class DeviceLoginsView(APIView):
    parser_classes = (BoundedJsonParser,)
    permission_classes = (AllowAny,)
    longest_days = 0  # as wired

    @extend_schema(
        operation_id="start_device_login",
        summary="Ask for a personal token that somebody grants in their browser",
        description=f"Nothing is granted yet. At most {device_logins.MOST_OF_ADDRESS} wait of an"
        f" address, and {device_logins.MOST} in all, each for"
        f" {int(device_logins.LASTS.total_seconds() // 60)} minutes.",
        request=PersonalTokenBody,
        responses={201: StartedDeviceLoginSerializer},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        wanted = body(request, PersonalTokenBody)
        made, device_code, user_code = device_logins.start(
            name=wanted["name"],
            days=days_of(wanted, self.longest_days),
            scopes=wanted.get("scopes", personal_tokens.USUAL_SCOPES),
            address=_address(request),
        )
        answer = {
            "device_code": device_code,
            "user_code": user_code,
            "expires_in": int((made.expires_at - made.asked_at).total_seconds()),
            "interval": device_logins.INTERVAL_SECONDS,
        }
        return Response(
            StartedDeviceLoginSerializer(answer).data,
            status=status.HTTP_201_CREATED,
            headers={"Cache-Control": "no-store"},
        )


class PollView(APIView):
    parser_classes = (BoundedJsonParser,)
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="poll_device_login",
        summary="Whether somebody has confirmed or refused a login",
        description="Who asks more often than `interval` says is answered `slow_down`.",
        request=DeviceCodeBody,
        responses=DeviceLoginStateSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        state = device_logins.state_of(body(request, DeviceCodeBody)["device_code"])
        return Response(DeviceLoginStateSerializer({"state": state}).data)


class RedemptionView(APIView):
    parser_classes = (BoundedJsonParser,)
    permission_classes = (AllowAny,)
    longest_days = 0  # as wired

    @extend_schema(
        operation_id="redeem_device_login",
        summary="Get the token of a confirmed login, and read its key this once",
        request=DeviceCodeBody,
        responses={201: MadePersonalTokenSerializer},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        code = body(request, DeviceCodeBody)["device_code"]
        made, key = device_logins.redeem(code, longest_days=self.longest_days)
        return shown_once(PersonalTokenSerializer(made).data, key)


class LookUpView(APIView):
    parser_classes = (BoundedJsonParser,)

    @extend_schema(
        operation_id="look_up_device_login",
        summary="What a command line asks for, by the code that it shows",
        description="For people who are logged in with a browser.",
        request=UserCodeBody,
        responses=DeviceLoginSerializer,
    )
    def post(self, request: Request) -> Response:
        person = person_of(request)
        found = device_logins.look_up(person, body(request, UserCodeBody)["user_code"])
        found.is_your_address = found.address == _address(request)  # type: ignore[attr-defined]  # for the answer alone
        found.replaces = device_logins.replaces(person, found)  # type: ignore[attr-defined]  # likewise
        return Response(DeviceLoginSerializer(found).data)


class ConfirmationView(APIView):
    parser_classes = (BoundedJsonParser,)
    longest_days = 0  # as wired

    @extend_schema(
        operation_id="confirm_device_login",
        summary="Let a command line have the token that it asks for",
        description="A valid token of yours of the same name ends when it is made.",
        request=UserCodeBody,
        responses={204: None},
    )
    def post(self, request: Request) -> Response:
        person, code = person_of(request), body(request, UserCodeBody)["user_code"]
        device_logins.confirm(person, code, longest_days=self.longest_days)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RefusalView(APIView):
    parser_classes = (BoundedJsonParser,)

    @extend_schema(
        operation_id="refuse_device_login",
        summary="Let a command line have no token",
        request=UserCodeBody,
        responses={204: None},
    )
    def post(self, request: Request) -> Response:
        device_logins.refuse(person_of(request), body(request, UserCodeBody)["user_code"])
        return Response(status=status.HTTP_204_NO_CONTENT)


def _address(request: Request) -> str:
    return address_of(request._request)[:_LONGEST_ADDRESS]  # noqa: SLF001 - DRF gives no other way
