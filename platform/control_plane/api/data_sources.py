"""Which data may jobs name? Members see what is theirs; only admins add, change and delete it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.data import sources
from storage.data.sources import SourceContent
from storage.errors import SourceInUse
from storage.models import DataSource
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Team

from jobs.admission.data_use import DataUser, live_jobs_by_source
from jobs.api.requests import body

_MOST_JOBS: Final = 20  # named beside a source; the rest is counted


class DataUserSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    team = serializers.CharField()


class DataSourceBody(serializers.Serializer[Any]):
    """What a source is, and for whom."""

    kind = serializers.ChoiceField(choices=DataSource.Kind.choices, default=DataSource.Kind.FOLDER)
    path = serializers.CharField(
        help_text="The folder as nodes see it, below one of CONCERTINA_DATA_FOLDERS."
    )
    teams = serializers.ListField(
        child=serializers.CharField(max_length=40),
        allow_empty=False,
        max_length=1000,
        help_text="Whose jobs may name it; teams below them may not.",
    )
    is_writable = serializers.BooleanField(default=False, help_text="true: jobs may write to it.")


class DataSourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=DataSource.Kind.choices)
    path = serializers.CharField(help_text="The folder as nodes see it.")
    teams = serializers.ListField(
        child=serializers.CharField(), help_text="Whose jobs may name it; those that you may see."
    )
    is_writable = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField()
    jobs = DataUserSerializer(
        many=True, help_text=f"Live jobs of these teams that use it; at most {_MOST_JOBS}."
    )
    jobs_count = serializers.IntegerField(help_text="How many live jobs of these teams use it.")


class DataSourceListSerializer(serializers.Serializer[Any]):
    may_change = serializers.BooleanField(help_text="True for admins.")
    items = DataSourceSerializer(many=True)


class DataSourcesView(APIView):
    @extend_schema(
        operation_id="list_data_sources",
        summary="The sources of data that jobs of your teams may name",
        description=f"For admins, those of all teams. At most {sources.MOST}.",
        responses=DataSourceListSerializer,
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        found = DataSource.objects.prefetch_related("teams")
        if not principal.is_admin:
            found = found.filter(teams__in=principal.team_ids).distinct()
        users = live_jobs_by_source()
        items = [_row(one, users.get(one.name, []), principal) for one in found]
        answer = {"may_change": principal.is_admin, "items": items}
        return Response(DataSourceListSerializer(answer).data)


class DataSourceView(APIView):
    @extend_schema(
        operation_id="set_data_source",
        summary="Add a source of data, or replace it (admins)",
        description="While live jobs use it, it can only be shared with more teams and be opened"
        " for writing.",
        request=DataSourceBody,
        responses={200: DataSourceSerializer, 201: DataSourceSerializer},
    )
    def put(self, request: Request, name: str) -> Response:
        principal = _admin(request)
        wanted = body(request, DataSourceBody)
        content = SourceContent(
            kind=wanted["kind"],
            place={"path": wanted["path"]},
            teams=_teams(wanted["teams"]),
            is_writable=wanted["is_writable"],
        )
        with transaction.atomic():
            users = _users_of_locked(name)
            source, is_new = sources.put(
                name=name,
                content=content,
                by=principal.name,
                rules=settings.CONCERTINA.data_rules,
                users=[str(user) for user in users],
            )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(DataSourceSerializer(_row(source, users, principal)).data, status=code)

    @extend_schema(
        operation_id="delete_data_source",
        summary="Delete a source of data; its files stay (admins)",
        description="Refused while live jobs use it.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str) -> Response:
        _admin(request)
        with transaction.atomic():
            users = _users_of_locked(name)
            if users:
                raise SourceInUse([str(user) for user in users])
            deleted, _ = DataSource.objects.filter(name=name).delete()
        if not deleted:
            raise exceptions.NotFound(f"There is no data source {name!r}.")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _admin(request: Request) -> Principal:
    principal = principal_of(request)
    if not principal.is_admin:
        raise exceptions.PermissionDenied("Only admins add, change and delete sources of data.")
    return principal


def _users_of_locked(name: str) -> list[DataUser]:
    """Lock the source, so that no job is submitted with it meanwhile; return who uses it."""
    locked = DataSource.objects.select_for_update().filter(name=name)
    if not locked.values_list("pk", flat=True).first():
        return []
    return live_jobs_by_source().get(name, [])


def _teams(names: Sequence[str]) -> list[Team]:
    found = {team.name: team for team in Team.objects.filter(name__in=names)}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise exceptions.ValidationError({"teams": f"There is no team {unknown[0]!r}."})
    return list(found.values())


def _row(source: DataSource, users: Sequence[DataUser], principal: Principal) -> dict[str, Any]:
    shown = [user for user in users if user.team in principal.teams]
    return {
        "name": source.name,
        "kind": source.kind,
        **source.place,
        "teams": sorted(one.name for one in source.teams.all() if one.name in principal.teams),
        "is_writable": source.is_writable,
        "created_at": source.created_at,
        "updated_at": source.updated_at,
        "updated_by": source.updated_by,
        "jobs": [
            {"id": user.id, "name": user.name, "team": user.team} for user in shown[:_MOST_JOBS]
        ],
        "jobs_count": len(shown),
    }
