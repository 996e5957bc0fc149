"""How does a request prove who sends it? A team token, or a session of a logged-in person."""

from __future__ import annotations

from typing import Any

from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from tenancy.access import tokens
from tenancy.access.addresses import address_of
from tenancy.access.bearer import bearer_key
from tenancy.access.principal import TokenUser
from tenancy.models import Token


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer ct_…`."""

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        key = bearer_key(request.headers.get("Authorization", ""))
        if key is None:
            return None
        token = tokens.find_valid(key, address=address_of(request))
        if token is None:
            raise exceptions.AuthenticationFailed("This token is unknown, expired or revoked.")
        return TokenUser(token), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"
