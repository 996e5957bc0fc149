"""How do I change my password? By telling the old one; other browsers are signed out then."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.errors import NoPassword

from control_plane.api.people.personal_tokens import person_of
from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api.requests import body


class NewPasswordBody(serializers.Serializer[Any]):
    password = serializers.CharField(
        max_length=1000, trim_whitespace=False, help_text="The one that you have now."
    )
    new_password = serializers.CharField(max_length=1000, trim_whitespace=False)


class OwnPasswordView(APIView):
    parser_classes = (BoundedJsonParser,)

    @extend_schema(
        operation_id="change_password",
        summary="Change your own password",
        description="For people who are logged in with a browser. Their other browsers are signed"
        " out; tokens stay. Whoever signs in elsewhere, by a provider or a proxy, has none here.",
        request=NewPasswordBody,
        responses={204: None},
    )
    def post(self, request: Request) -> Response:
        person, wanted = person_of(request), body(request, NewPasswordBody)
        if not person.has_usable_password():
            raise NoPassword
        _check_that_it_is(person, wanted["password"], request)
        try:
            validate_password(wanted["new_password"], person)
        except ValidationError as problem:
            raise serializers.ValidationError({"new_password": list(problem.messages)}) from problem
        person.set_password(wanted["new_password"])
        person.save(update_fields=["password"])
        update_session_auth_hash(request._request, person)  # noqa: SLF001 - DRF gives no other way
        return Response(status=status.HTTP_204_NO_CONTENT)


def _check_that_it_is(person: User, password: str, request: Request) -> None:
    """Try the password that somebody says is theirs.

    Raises:
        ValidationError: it is not.
        TooManyAttempts: it was not looked at.
    """
    found = authenticate(request._request, username=person.username, password=password)  # noqa: SLF001 - as above
    if found is None or found.pk != person.pk:
        raise serializers.ValidationError({"password": ["This is not your password."]})
