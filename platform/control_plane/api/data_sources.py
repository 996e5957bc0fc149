"""Which data may jobs name? Members see what is theirs; admins change it, leads object stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.data import sources
from storage.data.sources import SourceContent
from storage.errors import SourceInUse
from storage.models import DataSource
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records
from tenancy.models import Secret, Team

from jobs.admission.data_use import DataUser, live_jobs_by_source
from jobs.api.requests import body
from jobs.commands import pinning
from jobs.queries import visible_jobs

_OF_LEADS: Final = frozenset({DataSource.Kind.OBJECT_STORE, DataSource.Kind.OUTPUT})
_WORDS: Final = {  # which each kind has, the one that it needs first
    DataSource.Kind.FOLDER: ("path",),
    DataSource.Kind.OBJECT_STORE: ("url", "endpoint", "secret"),
    DataSource.Kind.OUTPUT: ("job",),
    DataSource.Kind.UPLOAD: ("digest",),
}
_ALL_WORDS: Final = ("path", "url", "endpoint", "secret", "job", "digest")
_MOST_JOBS: Final = 20  # named beside a source; the rest is counted


class DataUserSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    team = serializers.CharField()


class DataSourceBody(serializers.Serializer[Any]):
    """What a source is, and for whom."""

    kind = serializers.ChoiceField(choices=DataSource.Kind.choices, default=DataSource.Kind.FOLDER)
    path = serializers.CharField(
        required=False,
        help_text="Of a folder, as nodes see it, below one of CONCERTINA_DATA_FOLDERS.",
    )
    url = serializers.CharField(
        required=False,
        help_text="Of an object store: s3://BUCKET/PREFIX, gs://, az:// or https://; a folder, or"
        " the one object of this name.",
    )
    endpoint = serializers.CharField(
        required=False, help_text="Of S3 that is not Amazon's, such as https://s3.example.com."
    )
    job = serializers.CharField(
        required=False,
        max_length=12,
        help_text="Of an output: the id of the job that wrote it, which is pinned for that.",
    )
    digest = serializers.CharField(
        required=False,
        max_length=64,
        help_text="Of an upload that the first of `teams` has made: see upload_data.",
    )
    secret = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Of the first of `teams`: what the store asks for. Jobs are never told it.",
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
    path = serializers.CharField(help_text="Of a folder, as nodes see it; else empty.")
    url = serializers.CharField(help_text="Of an object store; else empty.")
    endpoint = serializers.CharField(
        help_text="Of a store that is not where its kind is; else empty."
    )
    job = serializers.CharField(help_text="The job whose outputs these are, or empty.")
    digest = serializers.CharField(
        help_text="Of an upload: of what jobs see that are submitted now; else empty."
    )
    secret = serializers.CharField(help_text="The name of what the store asks for, or empty.")
    cached_bytes = serializers.IntegerField(
        help_text="How much of it the platform has fetched, or is about to, in all versions; of an"
        " upload how much it has."
    )
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
    may_change = serializers.BooleanField(
        help_text="True for admins and, of stores and outputs of their teams, for leads."
    )
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
        found = DataSource.objects.prefetch_related("teams", "copies")
        if not principal.is_admin:
            found = found.filter(teams__in=principal.seen_ids).distinct()
        users, here = live_jobs_by_source(), sources.bytes_here(found)
        items = [_row(one, users.get(one.name, []), here[one.pk], principal) for one in found]
        may_change = principal.may_anywhere(Permission.MANAGE_SOURCES)
        answer = {"may_change": may_change, "items": items}
        return Response(DataSourceListSerializer(answer).data)


class DataSourceView(APIView):
    @extend_schema(
        operation_id="set_data_source",
        summary="Add a source of data, or replace it (admins; of some kinds leads, or tokens)",
        description="Leads do so with object stores, outputs and uploads for teams that they lead,"
        " tokens with uploads for their team. While live jobs use it, it can only be shared with"
        " more teams, be opened for writing, or be another upload, which they do not see.",
        request=DataSourceBody,
        responses={200: DataSourceSerializer, 201: DataSourceSerializer},
    )
    def put(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        wanted = body(request, DataSourceBody)
        _check_may_change(principal, wanted["kind"], wanted["teams"])
        teams = _teams(wanted["teams"])
        content = SourceContent(
            kind=wanted["kind"],
            place=_place(wanted, principal),
            teams=teams,
            is_writable=wanted["is_writable"],
        )
        with transaction.atomic():
            sources.one_change_at_a_time()
            _check_is_not_of_others(principal, name, wanted["teams"][0])
            before = _check_may_change_kept(principal, name)
            _keep_job(principal, content)
            users = _users_of_locked(name)
            source, is_new = sources.put(
                name=name,
                content=content,
                by=principal.name,
                rules=settings.CONCERTINA.data_rules,
                users=[str(user) for user in users],
            )
        records.note_target(team_id=teams[0].pk)
        records.note_change(before=before, after=_told(source, wanted["teams"]))
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        row = _row(source, users, sources.bytes_here([source])[source.pk], principal)
        return Response(DataSourceSerializer(row).data, status=code)

    @extend_schema(
        operation_id="delete_data_source",
        summary="Delete a source of data; its files stay (as who may add it)",
        description="Refused while live jobs use it.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        _check_leads_any(principal)
        with transaction.atomic():
            _check_is_shown(principal, name)
            records.note_change(before=_check_may_change_kept(principal, name))
            users = _users_of_locked(name)
            if users:
                raise SourceInUse([str(user) for user in users])
            deleted, _ = DataSource.objects.filter(name=name).delete()
        if not deleted:
            raise exceptions.NotFound(f"There is no data source {name!r}.")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _check_may_change(principal: Principal, kind: str, teams: Sequence[str]) -> None:
    """Raises: PermissionDenied, unless it is an admin, or it is theirs."""
    is_theirs = (
        kind in _OF_LEADS and all(principal.may(Permission.MANAGE_SOURCES, team) for team in teams)
    ) or (
        kind == DataSource.Kind.UPLOAD
        and all(principal.may(Permission.SET_UP, team) for team in teams)
    )
    if not principal.is_admin and not is_theirs:
        raise exceptions.PermissionDenied(
            "Only admins add, change and delete sources of data; leads do so with object stores,"
            " outputs and uploads for teams that they lead, and tokens with uploads."
        )


def _check_leads_any(principal: Principal) -> None:
    """Say to everybody else the same, whether there is such a source or not."""
    if not principal.may_anywhere(Permission.SET_UP):
        _check_may_change(principal, "", ())


def _check_is_shown(principal: Principal, name: str) -> None:
    """A token is told of no source of others, not even that there is one. Raises: NotFound."""
    if principal.is_token and not _shown(principal, name).exists():
        raise exceptions.NotFound(f"There is no data source {name!r}.")


def _shown(principal: Principal, name: str) -> QuerySet[DataSource]:
    return DataSource.objects.filter(name=name, teams__in=principal.seen_ids)


def _check_is_not_of_others(principal: Principal, name: str, team: str) -> None:
    """Names are given once for all teams. Raises: PermissionDenied."""
    kept = DataSource.objects.filter(name=name)
    if not principal.is_admin and kept.exists() and not _shown(principal, name).exists():
        raise exceptions.PermissionDenied(
            f"Another team calls a source {name}, and a name is given once. Use another one, such"
            f" as {team}-{name}."
        )


def _check_may_change_kept(principal: Principal, name: str) -> dict[str, Any] | None:
    """Lock the source first, so that nobody gives it to others meanwhile; tell what it was."""
    kept = DataSource.objects.select_for_update().filter(name=name).first()
    if kept is None:
        return None
    names = list(kept.teams.values_list("name", flat=True))
    _check_may_change(principal, kept.kind, names)
    return _told(kept, names)


def _told(source: DataSource, teams: Sequence[str]) -> dict[str, Any]:
    """Return what the audit log tells of a source: of an address no more than where it leads."""
    place = {word: source.place[word] for word in _ALL_WORDS if source.place.get(word)}
    if "url" in place:
        parts = urlsplit(place["url"])
        place["url"] = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    return {
        "kind": source.kind,
        "teams": list(teams),
        "is_writable": source.is_writable,
        **place,
    }


def _keep_job(principal: Principal, content: SourceContent) -> None:
    """Pin the job whose outputs become a source. Raises: PermissionDenied, for leads of others."""
    if job_id := content.place.get("job"):
        job = visible_jobs.find_job_to_change(principal, job_id)
        _check_may_change(principal, content.kind, [job.team.name])
        pinning.pin(job_id=job.pk)


def _place(wanted: Mapping[str, Any], principal: Principal) -> dict[str, str]:
    """Return where it lies, in the words of its kind; words of another kind are refused."""
    allowed = _WORDS[wanted["kind"]]
    needed = allowed[0]
    for word in _ALL_WORDS:
        if wanted.get(word) and word not in allowed:
            raise exceptions.ValidationError({word: f"A {wanted['kind']} has none. Leave it out."})
    if not wanted.get(needed):
        raise exceptions.ValidationError({needed: f"A {wanted['kind']} needs it."})
    found = {word: wanted[word] for word in allowed if wanted.get(word)}
    team = wanted["teams"][0]
    if "digest" in found:
        return {**found, "owner": str(principal.seen[team].pk)}
    if not (secret := found.get("secret")):
        return found
    if not Secret.objects.filter(team__name=team, name=secret).exists():
        raise exceptions.ValidationError(
            {
                "secret": f"Team {team} has no secret {secret!r}. Set it, or begin with the team"
                " that has it."
            }
        )
    return {**found, "team": team}


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


def _row(
    source: DataSource, users: Sequence[DataUser], bytes_here: int, principal: Principal
) -> dict[str, Any]:
    shown = [user for user in users if user.team in principal.seen]
    return {
        "name": source.name,
        "kind": source.kind,
        **{word: source.place.get(word, "") for word in _ALL_WORDS},
        "cached_bytes": bytes_here,
        "teams": sorted(one.name for one in source.teams.all() if one.name in principal.seen),
        "is_writable": source.is_writable,
        "created_at": source.created_at,
        "updated_at": source.updated_at,
        "updated_by": source.updated_by,
        "jobs": [
            {"id": user.id, "name": user.name, "team": user.team} for user in shown[:_MOST_JOBS]
        ],
        "jobs_count": len(shown),
    }
