"""The endpoint of the audit log: who did what, and who was refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import reading
from tenancy.audit.reading import AuditQuestion
from tenancy.models import AuditEntry, AuditOutcome, AuditSenderKind

from control_plane.api.audit.query import MOST, AuditQuery
from control_plane.api.usage.documents import cell
from jobs.api.requests import query
from jobs.queries.curves.tables import TableFormat


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """A request that changed something, or several of one kind that were not carried out."""

    outcome = serializers.ChoiceField(choices=AuditOutcome.choices)
    sender_kind = serializers.ChoiceField(choices=AuditSenderKind.choices)
    team = serializers.CharField(
        source="team_name", allow_null=True, help_text="null: about none, or one that is gone."
    )
    token_prefix = serializers.CharField(help_text="Of a key that opened nothing, too; or empty.")
    address = serializers.CharField(help_text="Of IPv6 the network of 64 bits.")
    before = serializers.JSONField(help_text="Values of what changed; null: none are told.")
    after = serializers.JSONField(help_text="Likewise.")
    times = serializers.IntegerField(help_text="How often, within an hour.")
    last_at = serializers.DateTimeField(help_text="When for the last time.")

    class Meta:
        model = AuditEntry
        fields = (
            *("id", "at", "last_at", "times", "outcome", "sender_kind", "sender", "token_id"),
            *("token_prefix", "address", "operation", "target", "team", "answer", "before"),
            "after",
        )
        read_only_fields = fields


class AuditPageSerializer(serializers.Serializer[Any]):
    items = AuditEntrySerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="null: these were the last.")


_COLUMNS: Final = AuditEntrySerializer.Meta.fields


class AuditView(APIView):
    @extend_schema(
        operation_id="list_audit_entries",
        summary="Who did what, and who was refused, the newest first (leads, admins)",
        description="Leads see entries about their teams and those below, admins all. At most"
        f" {MOST} at once; where the next page of a table is, its header `Link` says.",
        parameters=[AuditQuery],
        responses={
            (200, "application/json"): AuditPageSerializer,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        principal, parameters = principal_of(request), query(request, AuditQuery)
        asked = _question(parameters, _teams_seen(principal, parameters["team"]))
        limit, cursor = parameters["limit"], parameters["cursor"]
        found = reading.entries(asked, before_id=int(cursor) if cursor else None, limit=limit + 1)
        shown = found[:limit]
        following = str(shown[-1].pk) if len(found) > limit else None
        answer = AuditPageSerializer({"items": shown, "next_cursor": following}).data
        if parameters["format"] == TableFormat.JSON:
            return Response(answer)
        return HttpResponse(
            _table(answer["items"]),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": 'attachment; filename="audit.csv"',
                **_link(request, following),
            },
        )


def _teams_seen(principal: Principal, team: str) -> Collection[int] | None:
    """Return the teams whose entries are asked for; None: all, and those of none.

    Raises:
        PermissionDenied: whoever asks leads no team.
        NotFound: the team is none of theirs, or there is none.
    """
    theirs = principal.teams_where(Permission.SEE_AUDIT)
    if not theirs and not principal.is_admin:
        raise exceptions.PermissionDenied("Only leads and admins see the audit log.")
    if team:
        if team not in theirs:
            raise exceptions.NotFound(f"There is no team {team!r} whose entries you see.")
        return [theirs[team].pk]
    return None if principal.is_admin else [one.pk for one in theirs.values()]


def _question(parameters: Mapping[str, Any], teams: Collection[int] | None) -> AuditQuestion:
    return AuditQuestion(
        teams=teams,
        target=parameters["object"].strip("/"),
        **{
            name: parameters[name]
            for name in ("sender", "token", "operation", "outcome", "since", "until")
        },
    )


def _table(items: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each entry, in which no cell is a formula, and a first one with names."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(_COLUMNS)
    for item in items:
        lines.writerow([cell(_text(item[name])) for name in _COLUMNS])
    return written.getvalue()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _link(request: Request, cursor: str | None) -> dict[str, str]:
    if cursor is None:
        return {}
    here = request.build_absolute_uri()
    return {"Link": f'<{replace_query_param(here, "cursor", cursor)}>; rel="next"'}
