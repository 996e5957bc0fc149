"""Which keys do a team's programs have? Its leads and admins make, rotate and revoke them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from cluster.models import Pool
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.keys import team_tokens
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.access.token_bounds import JOB_SCOPES, MOST_LABELS, MOST_POOLS, TokenBounds
from tenancy.models import Team, Token, TokenScope, TokenState

from jobs.api.requests import body
from jobs.spec.names import check_labels, check_text

_UNREADABLE: Final = {"Cache-Control": "no-store"}  # by nobody else, and never again


class KeySerializer(serializers.ModelSerializer[Any]):
    """What is told of a team's token as of a person's, and never its key."""

    state = serializers.ChoiceField(choices=TokenState.choices, help_text="What it is now.")
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="To the minute; null: never."
    )
    last_used_from = serializers.CharField(
        help_text="The address that was seen then, of IPv6 its network. Empty: none yet."
    )

    pools = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="The only pools whose jobs it reaches. null: any.",
    )
    labels = serializers.DictField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="What all jobs that it reaches have. null: any.",
    )

    class Meta:
        fields: tuple[str, ...] = (
            *("id", "name", "prefix", "state", "scopes", "pools", "labels", "created_at"),
            *("expires_at", "revoked_at", "last_used_at", "last_used_from"),
        )


class TokenSerializer(KeySerializer):
    """A token of a team, without its key."""

    created_by = serializers.CharField(help_text="Empty: from before that was noted.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=TokenScope.choices),
        allow_null=True,
        help_text="null: it may do all that tokens may.",
    )

    class Meta:
        model = Token
        fields = (*KeySerializer.Meta.fields, "created_by")
        read_only_fields = fields


class MadeTokenSerializer(TokenSerializer):
    key = serializers.CharField(help_text="Shown this once: nobody can read it again.")

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "key")


class TokenListSerializer(serializers.Serializer[Any]):
    longest_days = serializers.IntegerField(
        help_text="How long tokens that leads make may last; admins may make others."
    )
    items = TokenSerializer(many=True)


class TokenLifetimeBody(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        min_value=1,
        max_value=team_tokens.MOST_DAYS,
        allow_null=True,
        required=False,
        help_text=f"Until it expires; without it {team_tokens.USUAL_DAYS}, or as many as are"
        " allowed. null: never, for admins alone.",
    )


class RotationBody(TokenLifetimeBody):
    overlap_hours = serializers.IntegerField(
        min_value=0,
        max_value=team_tokens.MOST_OVERLAP_HOURS,
        default=team_tokens.USUAL_OVERLAP_HOURS,
        help_text="How long the former key opens as well. 0: it is revoked at once.",
    )


def name_field(help_text: str) -> serializers.RegexField:
    """Return the field for the name of a token that is to be made."""
    return serializers.RegexField(
        r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$",
        error_messages={
            "invalid": "Use 1 to 80 letters, digits, dots, hyphens and underscores, beginning with"
            " a letter or digit."
        },
        help_text=help_text,
    )


class TokenBoundsBody(TokenLifetimeBody):
    """What limits a token to some jobs, whatever its scopes let it do with these."""

    pools = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=MOST_POOLS,
        allow_null=True,
        required=False,
        help_text="It reaches jobs in these pools alone, and submits to no others. null, or empty:"
        f" any. At most {MOST_POOLS}.",
    )
    labels = serializers.DictField(
        child=serializers.CharField(max_length=4096, allow_blank=True),
        allow_null=True,
        required=False,
        help_text="It reaches jobs alone that have all of these labels. What it submits gets them."
        f" null, or empty: any. At most {MOST_LABELS}.",
    )

    def validate_pools(self, pools: list[str] | None) -> list[str] | None:
        known = set(Pool.objects.values_list("name", flat=True))
        if unknown := sorted({*(pools or ())} - known):
            raise serializers.ValidationError(
                f"{unknown[0]} is no pool. There are: {', '.join(sorted(known)) or 'none'}."
            )
        return pools

    def validate_labels(self, labels: dict[str, str] | None) -> dict[str, str] | None:
        if len(labels or ()) > MOST_LABELS:
            raise serializers.ValidationError(f"Use at most {MOST_LABELS} labels.")
        try:
            for value in check_labels(labels or {}).values():
                check_text(value)
        except ValueError as error:
            raise serializers.ValidationError(" ".join(str(error).split(" | "))) from error
        return labels

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A limited token has scopes of jobs alone: all of them, if none are said."""
        if bounds_of(attrs) is None:
            return attrs
        scopes = attrs.get("scopes")
        if beyond := sorted({*(scopes or ())} - {*JOB_SCOPES}):
            raise serializers.ValidationError(
                {
                    "scopes": f"A token that is limited to pools or labels reaches jobs alone:"
                    f" leave out {' and '.join(beyond)}."
                }
            )
        return attrs if scopes else {**attrs, "scopes": [one.value for one in JOB_SCOPES]}


def bounds_of(wanted: Mapping[str, Any]) -> TokenBounds | None:
    """Return what limits the token that is wanted; None: nothing does."""
    return TokenBounds.of(wanted.get("pools"), wanted.get("labels"))


class TokenBody(TokenBoundsBody):
    name = name_field("What it is for; jobs that come with it are submitted by `TEAM/NAME`.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(
            choices=TokenScope.choices,
            error_messages={"invalid_choice": "Use read, submit, manage-jobs or manage-team."},
        ),
        min_length=1,
        max_length=len(TokenScope),
        allow_null=True,
        required=False,
        help_text="What it may do. null, or nothing: all that tokens may. `admin` is for personal"
        " tokens.",
    )

    def validate_scopes(self, scopes: list[str] | None) -> list[str] | None:
        if TokenScope.ADMIN in (scopes or ()):
            raise serializers.ValidationError(
                "A team's token administers nothing; an admin makes a personal token that does."
            )
        return scopes


class TokensView(APIView):
    longest_days = team_tokens.USUAL_DAYS

    @extend_schema(
        operation_id="list_tokens",
        summary="The tokens of a team, without their keys (leads, admins)",
        description=f"Valid ones first, then the {team_tokens.MOST_ENDED} that were made last of"
        " those that are expired or revoked.",
        responses=TokenListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        items = team_tokens.of(_team(principal_of(request), name))
        answer = {"longest_days": self.longest_days, "items": items}
        return Response(TokenListSerializer(answer).data)

    @extend_schema(
        operation_id="add_token",
        summary="Make a token of a team, and read its key this once (leads, admins)",
        description=f"A team has at most {team_tokens.MOST_VALID} valid ones.",
        request=TokenBody,
        responses={201: MadeTokenSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team, wanted = _team(principal, name), body(request, TokenBody)
        days = days_of(wanted, self.longest_days)
        made, key = team_tokens.make(
            principal,
            team,
            wanted["name"],
            days=days,
            longest_days=self.longest_days,
            scopes=wanted.get("scopes"),
            bounds=bounds_of(wanted),
        )
        return shown_once(TokenSerializer(made).data, key)


class TokenView(APIView):
    @extend_schema(
        operation_id="revoke_token",
        summary="Make a token useless at once (leads, admins)",
        description="What is followed with it ends within seconds. Its jobs go on.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, token: int) -> Response:
        principal = principal_of(request)
        team = _team(principal, name)
        team_tokens.revoke(principal.name, team, _token(team, token))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokenRotationView(APIView):
    longest_days = team_tokens.USUAL_DAYS

    @extend_schema(
        operation_id="rotate_token",
        summary="Make a token in place of another, which opens for a while longer (leads, admins)",
        description="The new one has the name of the former, and an id and a key of its own.",
        request=RotationBody,
        responses={201: MadeTokenSerializer},
    )
    def post(self, request: Request, name: str, token: int) -> Response:
        principal = principal_of(request)
        team, wanted = _team(principal, name), body(request, RotationBody)
        made, key = team_tokens.rotate(
            principal,
            team,
            _token(team, token),
            overlap=timedelta(hours=wanted["overlap_hours"]),
            days=days_of(wanted, self.longest_days),
            longest_days=self.longest_days,
        )
        return shown_once(TokenSerializer(made).data, key)


def days_of(wanted: dict[str, Any], longest: int) -> int | None:
    """Return for how many days a token is wanted; None: for ever."""
    days: int | None = wanted.get("days", min(team_tokens.USUAL_DAYS, longest))
    return days


def shown_once(token: Mapping[str, Any], key: str) -> Response:
    """Return the answer that alone tells the key."""
    return Response({**token, "key": key}, status=status.HTTP_201_CREATED, headers=_UNREADABLE)


def _team(principal: Principal, name: str) -> Team:
    """Return a team whose tokens are the caller's to change; a foreign one is not there."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    if not principal.may(Permission.MANAGE_TOKENS, name):
        raise exceptions.PermissionDenied(
            f"Only leads of team {name}, or of one above it, and admins see and change its tokens."
        )
    return team


def _token(team: Team, number: int) -> Token:
    found = Token.objects.filter(team=team, pk=number).first()
    if found is None:
        raise exceptions.NotFound(f"Team {team.name} has no token {number}.")
    return found
