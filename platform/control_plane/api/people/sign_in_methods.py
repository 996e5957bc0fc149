"""By what may one sign in here? The sign-in page asks before anybody is known."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.single_sign_on.terms import ProviderTerms

ADDRESS: Final = "/sign-in/provider"


class SignInProviderSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="As people call it.")
    address = serializers.CharField(
        help_text="Where a browser goes to sign in, with `next`, the path that it wants, as a"
        " parameter."
    )


class SignInMethodsSerializer(serializers.Serializer[Any]):
    provider = SignInProviderSerializer(
        allow_null=True, help_text="An OpenID provider; null: there are passwords alone."
    )


class SignInMethodsView(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="get_sign_in_methods",
        summary="By what one may sign in",
        responses=SignInMethodsSerializer,
        auth=[],
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - Django's signature
        terms: ProviderTerms | None = settings.CONCERTINA.provider
        provider = None if terms is None else {"name": terms.name, "address": ADDRESS}
        return Response(SignInMethodsSerializer({"provider": provider}).data)
