"""How does a job's curve leave the service whole? As a table, for other programs."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Generator
from typing import IO, Any, Final

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from control_plane.api.results import downloads
from jobs.api.requests import MomentField, query
from jobs.api.serializers import MetricListSerializer
from jobs.queries import visible_jobs
from jobs.queries.curves import tables
from jobs.queries.curves.tables import TableFormat

_PIECE: Final = 1 << 18
_TYPES: Final = {
    TableFormat.CSV: "text/csv; charset=utf-8",
    TableFormat.JSON: "application/json",
}


class TableQuery(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=[kind.value for kind in TableFormat], default="csv")
    since = MomentField(required=False, help_text="None before this moment.")
    until = MomentField(required=False, help_text="None after this moment.")


class MetricTableView(APIView):
    @extend_schema(
        operation_id="get_job_metrics_table",
        summary="A job's progress over time, all of it, as a file",
        description="Every point that is kept, as fine as it is kept, oldest first: all of them, or"
        " those between two moments. In CSV, what the script logged as `loss` is the column"
        " `values.loss`; JSON is as `list_job_metrics` answers, with a line for each point.",
        parameters=[TableQuery],
        responses={
            (200, "text/csv"): OpenApiTypes.BINARY,
            (200, "application/json"): MetricListSerializer,
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        parameters = query(request, TableQuery)
        kind = TableFormat(parameters.pop("format"))
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the answer
        try:
            tables.write(job, file, kind, **parameters)
            pieces = downloads.Pieces(_pieces(file), file.close)
            name = f"{job.name}-metrics.{kind}"
            return downloads.of_stream(request, job.team_id, pieces, name, _TYPES[kind])
        except BaseException:
            file.close()
            raise


def _pieces(file: IO[bytes]) -> Generator[bytes]:
    file.seek(0, io.SEEK_SET)
    while piece := file.read(_PIECE):
        yield piece
