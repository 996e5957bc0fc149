"""Which secrets does a team keep? Its members see their names; nobody sees what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records
from tenancy.errors import SecretInUse
from tenancy.models import Secret, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import RegistrySecret, SecretVariables, registry_login, variables

from control_plane.web.body_parsers import BoundedJsonParser
from jobs.admission.secret_use import UsingJob, live_jobs_by_secret
from jobs.api import requests

_MOST_JOBS: Final = 20  # named beside a secret; the rest is counted


class UsingJobSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()


class SecretSerializer(serializers.Serializer[Any]):
    """A secret without what is in it."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Secret.Kind.choices)
    variables = serializers.ListField(child=serializers.CharField(), help_text="What it sets.")
    registry = serializers.CharField(help_text="Of a login; else empty.", allow_blank=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField()
    jobs = UsingJobSerializer(many=True, help_text=f"Live jobs that need it; at most {_MOST_JOBS}.")
    jobs_count = serializers.IntegerField(help_text="How many live jobs need it.")


class SecretListSerializer(serializers.Serializer[Any]):
    may_set = serializers.BooleanField(help_text="True if the caller may set and delete them.")
    items = SecretSerializer(many=True)


class SecretBody(serializers.Serializer[Any]):
    """What to keep: `variables` of an environment, or the login of a registry."""

    kind = serializers.ChoiceField(
        choices=Secret.Kind.choices,
        error_messages={"invalid_choice": "Use environment or registry."},
    )
    variables = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False
    )
    registry = serializers.CharField(required=False, help_text="Such as registry.example.com:5000.")
    username = serializers.CharField(required=False, trim_whitespace=False)
    password = serializers.CharField(required=False, trim_whitespace=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wanted = {"kind", *_FIELDS[attrs["kind"]]}
        unknown = sorted(set(self.initial_data) - wanted)
        if unknown:
            known = ", ".join(sorted(wanted))
            raise serializers.ValidationError({str(unknown[0])[:80]: f"Unknown. Use {known}."})
        missing = wanted - set(attrs)
        if missing:
            raise serializers.ValidationError(dict.fromkeys(sorted(missing), "This is missing."))
        return attrs


_FIELDS: Final = {
    Secret.Kind.ENVIRONMENT: ("variables",),
    Secret.Kind.REGISTRY: ("registry", "username", "password"),
}


class DeleteQuery(serializers.Serializer[Any]):
    force = serializers.BooleanField(
        required=False, default=False, help_text="Even if live jobs need it: their starts fail."
    )


class SecretsView(APIView):
    @extend_schema(
        operation_id="list_secrets",
        summary="The secrets of a team, without what is in them",
        description=f"For the team's members. At most {team_secrets.MOST_PER_TEAM}.",
        responses=SecretListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = _team(principal, name)
        users = live_jobs_by_secret(team, principal.bounds)
        items = [_row(one, users.get(one.name, [])) for one in Secret.objects.filter(team=team)]
        answer = {"may_set": principal.may(Permission.SET_UP, name), "items": items}
        return Response(SecretListSerializer(answer).data)


class SecretView(APIView):
    parser_classes = (BoundedJsonParser,)  # whose errors show nothing of the body

    @extend_schema(
        operation_id="set_secret",
        summary="Set a secret, or replace it whole (leads and tokens of the team, admins)",
        description="Jobs get the new values with their next worker.",
        request=SecretBody,
        responses={200: SecretSerializer, 201: SecretSerializer},
    )
    def put(self, request: Request, name: str, secret: str) -> Response:
        principal = principal_of(request)
        team = _team_to_change(principal, name)
        content = _content(requests.body(request, SecretBody))
        kept, is_new = team_secrets.put(team=team, name=secret, content=content, by=principal.name)
        row = _row(kept, live_jobs_by_secret(team).get(secret, []))
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(SecretSerializer(row).data, status=code)

    @extend_schema(
        operation_id="delete_secret",
        summary="Delete a secret (leads and tokens of the team, admins)",
        parameters=[DeleteQuery],
        responses={204: None},
    )
    def delete(self, request: Request, name: str, secret: str) -> Response:
        principal = principal_of(request)
        team = _team_to_change(principal, name)
        is_forced = requests.query(request, DeleteQuery)["force"]
        with transaction.atomic():
            kept = Secret.objects.select_for_update().filter(team=team, name=secret).first()
            if kept is None:
                raise exceptions.NotFound(f"Team {name} has no secret {secret!r}.")
            users = live_jobs_by_secret(team).get(secret, [])
            if users and not is_forced:
                raise SecretInUse(_in_use(users))
            before = {"kind": kept.kind, "variables": kept.variables, "registry": kept.registry}
            records.note_change(before=before, after={"is_forced": True} if is_forced else None)
            kept.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team(principal: Principal, name: str) -> Team:
    """Return the caller's team; any other looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    return team


def _team_to_change(principal: Principal, name: str) -> Team:
    team = _team(principal, name)
    if not principal.may(Permission.SET_UP, name):
        raise exceptions.PermissionDenied(f"Only leads of team {name} and admins set its secrets.")
    return team


def _content(body: dict[str, Any]) -> SecretVariables | RegistrySecret:
    if body["kind"] == Secret.Kind.ENVIRONMENT:
        return variables(body["variables"])
    return registry_login(**{field: body[field] for field in _FIELDS[Secret.Kind.REGISTRY]})


def _row(secret: Secret, users: Sequence[UsingJob]) -> dict[str, Any]:
    return {
        "name": secret.name,
        "kind": secret.kind,
        "variables": secret.variables,
        "registry": secret.registry,
        "created_at": secret.created_at,
        "updated_at": secret.updated_at,
        "updated_by": secret.updated_by,
        "jobs": [asdict(one) for one in users[:_MOST_JOBS]],
        "jobs_count": len(users),
    }


def _in_use(users: Sequence[UsingJob]) -> str:
    named = ", ".join(f"{one.name} ({one.id})" for one in users[:3])
    more = f" and {len(users) - 3} more" if len(users) > 3 else ""  # noqa: PLR2004 - those named
    return (
        f"Live jobs need it: {named}{more}. End them first; or force it, and they will fail when"
        " they next start a worker."
    )
