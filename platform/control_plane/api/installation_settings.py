"""With which settings does this installation run? For admins, to read: they are set where it runs.

Nothing that opens a door is among them: no key, no password, and no address that may hold one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from cluster import installed_worker_hosts
from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from control_plane.api.setup.endpoint import check_admin
from control_plane.configuration.environment import Environment

_Read = Callable[[Environment], str]


def _size(count: int) -> str:
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} bytes"


def _days(kept: timedelta | None) -> str:
    return "for ever" if not kept else f"{kept.days} days"


def _part(name: str) -> _Read:
    return lambda it: _days(timedelta(days=it.retention.jobs.days[name]))


def _rate(name: str) -> _Read:
    return lambda it: f"{rate} a second" if (rate := getattr(it.limits, name)) else "no bound"


def _yes(is_so: bool) -> str:  # noqa: FBT001 - it is what is told
    return "yes" if is_so else "no"


_SETTINGS: Final[Mapping[str, Mapping[str, tuple[str, _Read]]]] = {
    "Addresses and people": {
        "CONCERTINA_SERVICE_URL": (
            "Where people reach the service.",
            lambda it: it.service_url,
        ),
        "CONCERTINA_ALLOWED_HOSTS": (
            "Names under which it answers.",
            lambda it: ", ".join(it.allowed_hosts),
        ),
        "CONCERTINA_TEAMS_SEE": (
            "What people see of teams in which they have no role.",
            lambda it: str(it.teams_see.value),
        ),
        "CONCERTINA_OIDC_NAME": (
            "The provider by which people sign in.",
            lambda it: it.provider.name if it.provider else "none: passwords alone",
        ),
        "CONCERTINA_INVITED_MAKE_ACCOUNTS": (
            "Whether whoever is invited makes an account with a password.",
            lambda it: _yes(it.invited_make_accounts),
        ),
        "CONCERTINA_LONGEST_TOKEN_DAYS": (
            "How long a token may last that no admin makes.",
            lambda it: f"{it.limits.longest_token_days} days",
        ),
        "CONCERTINA_MAIL_FROM": (
            "The address from which mail comes.",
            lambda it: it.mail.sender if it.mail else "none: no mail is sent",
        ),
    },
    "How jobs run": {
        "CONCERTINA_WORKER_HOST": (
            "What a process of a job is.",
            lambda it: installed_worker_hosts.name_of(it.worker_host),
        ),
        "CONCERTINA_TICK_SECONDS": (
            "The time between two looks of the planner.",
            lambda it: f"{it.tick_seconds:g} s",
        ),
        "CONCERTINA_SHELL_TEAMS": (
            "The teams beside whose workers people may have shells.",
            lambda it: ", ".join(sorted(it.shells.teams)) or "none",
        ),
        "CONCERTINA_NODE_LOST_SECONDS": (
            "The silence of a node after which what runs there counts as lost.",
            lambda it: f"{it.node_lost_seconds:g} s",
        ),
    },
    "What jobs and teams may take": {
        "CONCERTINA_JOB_DISK_GB": (
            "What the files of a job may take, if its spec does not say.",
            lambda it: _size(it.disk_limits.usual_bytes),
        ),
        "CONCERTINA_MOST_JOB_DISK_GB": (
            "The most that a spec may say.",
            lambda it: _size(it.disk_limits.most_bytes),
        ),
        "CONCERTINA_TEAM_DISK_GB": (
            "What all jobs of a team may keep, where an admin set nothing for it.",
            lambda it: _size(it.disk_limits.team_bytes),
        ),
        "CONCERTINA_JOB_FILES": (
            "How many files and folders a job may have.",
            lambda it: f"{it.disk_limits.most_files:,}",
        ),
        "CONCERTINA_PROCESS_LOG_MB": (
            "What is kept of the log of one process.",
            lambda it: _size(it.log_bounds.process_bytes),
        ),
        "CONCERTINA_JOB_LOG_MB": (
            "What is kept of all logs of a job.",
            lambda it: _size(it.log_bounds.job_bytes),
        ),
        "CONCERTINA_TEAM_MODELS_GB": (
            "How much all models of a team may be.",
            lambda it: _size(it.team_model_bytes),
        ),
        "CONCERTINA_CACHE_BYTES": (
            "How much data of object stores is kept.",
            lambda it: _size(it.cache_bytes),
        ),
    },
    "What is kept, and for how long": {
        **{
            f"CONCERTINA_KEEP_{name.upper()}_DAYS": (
                f"{said}, counted from a job's end.",
                _part(name),
            )
            for name, said in (
                ("curves", "Curves"),
                ("logs", "Logs"),
                ("checkpoints", "Checkpoints"),
                ("outputs", "Outputs"),
                ("code", "Code"),
            )
        },
        "CONCERTINA_KEEP_HISTORY_DAYS": (
            "What happened to a job, from its end.",
            lambda it: _days(it.retention.jobs.history),
        ),
        "CONCERTINA_KEEP_JOBS_DAYS": (
            "Jobs themselves, from their end.",
            lambda it: _days(it.retention.jobs.jobs),
        ),
        "CONCERTINA_KEEP_UTILISATION_DAYS": (
            "Who held which GPUs, moment by moment; hours are kept for ever.",
            lambda it: _days(it.retention.utilisation),
        ),
        "CONCERTINA_KEEP_AUDIT_DAYS": (
            "The audit log.",
            lambda it: _days(it.retention.audit),
        ),
    },
    "How much may be asked at once": {
        "CONCERTINA_READ_RATE": (
            "Requests of one person or token that read.",
            _rate("read_rate"),
        ),
        "CONCERTINA_WRITE_RATE": (
            "Requests of one person or token that change something.",
            _rate("write_rate"),
        ),
        "CONCERTINA_LARGEST_SPEC_BYTES": (
            "How large the spec of a job may be.",
            lambda it: _size(it.limits.largest_spec_bytes),
        ),
        "CONCERTINA_STATEMENT_SECONDS": (
            "How long a request waits for one statement of the database.",
            lambda it: (
                f"{it.limits.statement_seconds:g} s"
                if it.limits.statement_seconds
                else "without end"
            ),
        ),
    },
}


class InstallationSettingSerializer(serializers.Serializer[Any]):
    """A setting, by the variable that sets it."""

    group = serializers.CharField()
    name = serializers.CharField()
    value = serializers.CharField(help_text="As people read it, with its unit.")
    meaning = serializers.CharField()


class InstallationSettingListSerializer(serializers.Serializer[Any]):
    items = InstallationSettingSerializer(many=True)


class InstallationSettingsView(APIView):
    @extend_schema(
        operation_id="list_settings",
        summary="With which settings this installation runs",
        description="For admins, and for reading: each is a variable of the environment in which"
        " the service runs. Keys and passwords are not among them.",
        responses=InstallationSettingListSerializer,
    )
    def get(self, request: Request) -> Response:
        check_admin(request)
        items = [
            {"group": group, "name": name, "value": read(settings.CONCERTINA), "meaning": meaning}
            for group, found in _SETTINGS.items()
            for name, (meaning, read) in found.items()
        ]
        return Response(InstallationSettingListSerializer({"items": items}).data)
