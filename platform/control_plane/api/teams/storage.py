"""How much do a team's jobs keep on disk, of how much, and which of them most?"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from control_plane.queries.largest_on_disk import largest_on_disk
from jobs.lifecycle import JobState

_STATES: Final = [(state.value, state.value) for state in JobState]


class StoringJobSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=_STATES)
    is_pinned = serializers.BooleanField()
    finished_at = serializers.DateTimeField(allow_null=True)
    bytes = serializers.IntegerField(source="bytes_on_disk")


class TeamStorageSerializer(serializers.Serializer[Any]):
    """Outputs, checkpoints and all else that jobs keep in their folders; logs have bounds apart."""

    used_bytes = serializers.IntegerField(help_text="By all its jobs, as summed last.")
    most_bytes = serializers.IntegerField(
        help_text="Above it, jobs that write more are ended, others wait, new ones are refused."
    )
    is_full = serializers.BooleanField()
    message = serializers.CharField(help_text="What to do. Empty: there is room.")
    jobs = StoringJobSerializer(many=True, help_text="Those that keep most, the largest first.")


class TeamStorageView(APIView):
    @extend_schema(
        operation_id="get_team_storage",
        summary="How much a team's jobs keep on disk, and which of them most",
        responses=TeamStorageSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        team = principal_of(request).seen.get(name)
        if team is None:
            raise exceptions.NotFound
        disk = settings.CONCERTINA.disk_limits.of_team(
            name, bytes_=team.disk_bytes, gibibytes=team.most_disk_gib
        )
        answer = {
            "used_bytes": disk.bytes_,
            "most_bytes": disk.most_bytes,
            "is_full": disk.is_full,
            "message": f"{disk.said()} {disk.remedy()}" if disk.is_near else "",
            "jobs": largest_on_disk(team),
        }
        return Response(TeamStorageSerializer(answer).data)
