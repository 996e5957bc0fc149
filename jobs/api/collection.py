"""The endpoints of all jobs: list, submit, check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from jobs.admission import spec_checks
from jobs.admission.pool_capacity import PoolCapacity, ReadPools
from jobs.api import requests
from jobs.api.serializers import (
    JobPageSerializer,
    SubmittedJobSerializer,
    ValidationSerializer,
)
from jobs.api.spec_schema import JOB_SPEC_BODY
from jobs.commands import submission
from jobs.errors import SpecInvalid
from jobs.queries import pages, visible_jobs

LONGEST_KEY: Final = 200
_KEY: Final = re.compile(rf"[\x20-\x7e]{{1,{LONGEST_KEY}}}")
IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": f"^{_KEY.pattern}$"},
    OpenApiParameter.HEADER,
    required=False,
)


class KnowsPools(APIView):
    """A view that is told, where it is wired, how to ask about pools, and what is too large."""

    read_pools: ReadPools | None = None
    largest_body: int | None = None  # bytes of a spec; read by the parsers

    def pools(self) -> Sequence[PoolCapacity]:
        if self.read_pools is None:
            raise TypeError("as_view(read_pools=...) is missing")
        return self.read_pools()


class JobsView(KnowsPools):
    """All jobs of the caller's teams."""

    @extend_schema(
        operation_id="list_jobs",
        summary="List jobs, newest first",
        parameters=[requests.JobListQuery],
        responses=JobPageSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = requests.query(request, requests.JobListQuery)
        jobs = visible_jobs.matching(
            visible_jobs.jobs_of(principal_of(request)),
            team=parameters["team"],
            states=parameters["state"],
            search=parameters["search"],
        )
        page = pages.page_of(jobs, limit=parameters["limit"], cursor=parameters["cursor"])
        answer = {"items": page.jobs, "next_cursor": page.next_cursor}
        return Response(JobPageSerializer(answer).data)

    @extend_schema(
        operation_id="submit_job",
        summary="Submit a job",
        description="The body is a job spec in JSON or YAML. The same `Idempotency-Key` with the"
        " same body answers with the same job for 24 hours.",
        parameters=[IDEMPOTENCY_KEY],
        request=JOB_SPEC_BODY,
        responses={201: SubmittedJobSerializer, 200: SubmittedJobSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        made = submission.submit(
            document=request.data,
            teams=principal.teams,
            pools=self.pools(),
            submitted_by=principal.name,
            idempotency_key=idempotency_key(request),
        )
        job: Any = visible_jobs.find_job_with_numbers(principal, made.job.id)
        job.notes = made.notes
        code = status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK
        return Response(SubmittedJobSerializer(job).data, status=code)


class ValidateView(KnowsPools):
    """Would this spec be accepted?"""

    @extend_schema(
        operation_id="validate_job",
        summary="Check a job spec without submitting it",
        request=JOB_SPEC_BODY,
        responses=ValidationSerializer,
    )
    def post(self, request: Request) -> Response:
        try:
            admitted = submission.dry_run(
                document=request.data, teams=principal_of(request).teams, pools=self.pools()
            )
        except SpecInvalid as error:
            problems = [problem.as_detail() for problem in error.problems]
            return Response({"resolved_spec": None, "problems": problems, "notes": []})
        return Response(
            {
                "resolved_spec": admitted.resolved_spec,
                "problems": [],
                "notes": spec_checks.notes(admitted),
            }
        )


def idempotency_key(request: Request) -> str | None:
    """Return the key that came with a request. Raises: ValidationError."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        raise serializers.ValidationError(
            {"Idempotency-Key": f"Use 1 to {LONGEST_KEY} printable ASCII characters."}
        )
    return key
