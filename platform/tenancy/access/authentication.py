"""How does a request prove who sends it? A team's or a person's token, or a session of a person."""

from __future__ import annotations

from typing import Any

from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from tenancy.access.addresses import address_of
from tenancy.access.keys import tokens
from tenancy.access.keys.bearer import bearer_key
from tenancy.access.principal import PersonalTokenUser, TokenUser
from tenancy.models import PersonalToken
from tenancy.models.token import Key


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer ct_…` of a team, `cp_…` of a person."""

    def authenticate(self, request: Request) -> tuple[Any, Key] | None:
        key = bearer_key(request.headers.get("Authorization", ""))
        if key is None:
            return None
        token = tokens.find_valid(key, address=address_of(request))
        if token is None:
            raise exceptions.AuthenticationFailed("This token is unknown, expired or revoked.")
        if isinstance(token, PersonalToken):
            return PersonalTokenUser(token), token
        return TokenUser(token), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"
