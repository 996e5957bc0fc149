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

from control_plane.api.people.proxy_sessions import vouched_name

BY_PROVIDER: Final = "/sign-in/provider"
BY_PROXY: Final = "/sign-in/proxy"


class SignInProviderSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="As people call it.")
    address = serializers.CharField(
        help_text="Where a browser goes to sign in, with `next`, the path that it wants, as a"
        " parameter."
    )


class SignInProxySerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Who you are, as the proxy says.")
    address = serializers.CharField(help_text="As that of a provider.")


class SignInMethodsSerializer(serializers.Serializer[Any]):
    provider = SignInProviderSerializer(
        allow_null=True, help_text="An OpenID provider; null: there is none."
    )
    proxy = SignInProxySerializer(
        allow_null=True, help_text="A proxy by which this request came, and which vouches for you."
    )


class SignInMethodsView(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="get_sign_in_methods",
        summary="By what one may sign in",
        responses=SignInMethodsSerializer,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        terms: ProviderTerms | None = settings.CONCERTINA.provider
        provider = None if terms is None else {"name": terms.name, "address": BY_PROVIDER}
        name = vouched_name(request._request)  # noqa: SLF001 - DRF gives no other way
        proxy = {"name": name, "address": BY_PROXY} if name else None
        return Response(SignInMethodsSerializer({"provider": provider, "proxy": proxy}).data)
