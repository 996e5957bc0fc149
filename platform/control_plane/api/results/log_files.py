"""How does a job's whole log leave the service? As one file, made while it is sent."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from cluster.logs.log_store import JobLog
from cluster.logs.whole_log import LogWasTrimmed, whole_log
from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from jobs.api.requests import query
from jobs.queries import visible_jobs

_LOOKS: Final = 3  # guessed: parts of it go while they are counted


class LogIsGoing(exceptions.APIException):
    """The log is removed while it is looked at."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Parts of this log are dropped right now; try again in a moment."
    wait = 5.0


class LogFileQuery(serializers.Serializer[Any]):
    worker = serializers.RegexField(
        r"^[A-Za-z0-9-]{1,60}$",
        required=False,
        default=None,
        help_text="Only this process. Default: all workers; the coordinator's is left out.",
    )


class LogFileView(APIView):
    @extend_schema(
        operation_id="get_job_log_file",
        summary="All that is kept of a job's log, as a file",
        description="As an attachment. A line is the process, the moment, `stdout` or `stderr`, and"
        " the text, with a blank between each two; lines of several processes are in order of time."
        " It ends with the last whole line there was when it was asked for. If a part is dropped"
        " while it is sent, since the log became too long, the connection breaks off.",
        parameters=[LogFileQuery, *RANGES],
        responses={
            (200, "text/plain"): OpenApiTypes.BINARY,
            (206, "text/plain"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        worker = query(request, LogFileQuery)["worker"]
        log = JobLog(job_id=job.id, state_dir=settings.CONCERTINA.state_dir, worker=worker)
        name = job.name if worker is None else f"{job.name}{worker.removeprefix(job.id)}"
        for _ in range(_LOOKS):
            with suppress(LogWasTrimmed):  # since it was listed: what is left is looked at again
                return _answer(request, job.team_id, log, f"{name}.log")
        raise LogIsGoing


def _answer(request: Request, team_id: int, log: JobLog, name: str) -> HttpResponseBase:
    whole = whole_log(log)
    return downloads.of_content(request, team_id, whole, name, whole.content)
