"""Which keys do I have, to do without my password? People make and revoke their own."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.keys import personal_tokens
from tenancy.access.principal import PersonalTokenUser
from tenancy.models import PersonalToken, TokenScope

from control_plane.api.teams.tokens import (
    KeySerializer,
    TokenBoundsBody,
    bounds_of,
    days_of,
    name_field,
    shown_once,
)
from jobs.api.requests import body

_NOBODY: Final = "Only people have tokens of their own: log in."
_BY_A_TOKEN: Final = (
    "A token makes no others, and lists and revokes none but itself: log in with a password."  # noqa: S105 - a sentence
)


class PersonalTokenSerializer(KeySerializer):
    """A token of a person, without its key."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=TokenScope.choices))

    class Meta:
        model = PersonalToken
        fields = KeySerializer.Meta.fields
        read_only_fields = fields


class MadePersonalTokenSerializer(PersonalTokenSerializer):
    key = serializers.CharField(help_text="Shown this once: nobody can read it again.")

    class Meta(PersonalTokenSerializer.Meta):
        fields = (*PersonalTokenSerializer.Meta.fields, "key")


class PersonalTokenListSerializer(serializers.Serializer[Any]):
    longest_days = serializers.IntegerField(
        help_text="How long tokens may last; those of admins may last longer."
    )
    items = PersonalTokenSerializer(many=True)


class PersonalTokenBody(TokenBoundsBody):
    name = name_field("What it is for.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=TokenScope.choices),
        min_length=1,
        max_length=len(TokenScope),
        required=False,
        help_text="What it may do of what you may. Without it, all but what admins alone may.",
    )


class PersonalTokensView(APIView):
    longest_days = 0  # as wired

    @extend_schema(
        operation_id="list_personal_tokens",
        summary="Your own tokens, without their keys",
        description=f"Valid ones first, then the {personal_tokens.MOST_ENDED} that were made last"
        " of those that are expired or revoked. A token lists only itself.",
        responses=PersonalTokenListSerializer,
    )
    def get(self, request: Request) -> Response:
        if isinstance(request.user, PersonalTokenUser):
            items = [request.user.token]
        else:
            items = [*personal_tokens.of(person_of(request))]
        answer = {"longest_days": self.longest_days, "items": items}
        return Response(PersonalTokenListSerializer(answer).data)

    @extend_schema(
        operation_id="add_personal_token",
        summary="Make a token of your own, and read its key this once",
        description="It may do what you may, as far as its scopes say, and as long as you may. You"
        f" have at most {personal_tokens.MOST_VALID} valid ones. A token makes no others.",
        request=PersonalTokenBody,
        responses={201: MadePersonalTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        person, wanted = person_of(request), body(request, PersonalTokenBody)
        made, key = personal_tokens.make(
            person,
            wanted["name"],
            days=days_of(wanted, self.longest_days),
            longest_days=self.longest_days,
            scopes=wanted.get("scopes", personal_tokens.USUAL_SCOPES),
            bounds=bounds_of(wanted),
        )
        return shown_once(PersonalTokenSerializer(made).data, key)


class PersonalTokenView(APIView):
    @extend_schema(
        operation_id="revoke_personal_token",
        summary="Make a token of your own useless at once",
        description="What is followed with it ends within seconds. A token revokes only itself.",
        responses={204: None},
    )
    def delete(self, request: Request, token: int) -> Response:
        if isinstance(request.user, PersonalTokenUser) and request.user.token.pk == token:
            found: PersonalToken | None = request.user.token
        else:
            found = PersonalToken.objects.filter(person=person_of(request), pk=token).first()
        if found is None:
            raise exceptions.NotFound(f"You have no token {token}.")
        personal_tokens.revoke(found)
        return Response(status=status.HTTP_204_NO_CONTENT)


def person_of(request: Request) -> User:
    """Return who is logged in. Raises: PermissionDenied, for tokens."""
    if isinstance(request.user, PersonalTokenUser):
        raise exceptions.PermissionDenied(_BY_A_TOKEN)
    if not isinstance(request.user, User):
        raise exceptions.PermissionDenied(_NOBODY)
    return request.user
