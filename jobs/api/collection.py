"""The endpoints of all jobs: list, submit one or many, check."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Team

from jobs.admission import call
from jobs.admission.pool_capacity import PoolCapacity, ReadPools
from jobs.api import requests
from jobs.api.representation import represented
from jobs.api.serializers import (
    JobPageSerializer,
    SparklineListSerializer,
    SubmittedJobSerializer,
    SubmittedJobsSerializer,
    ValidationSerializer,
)
from jobs.api.spec_schema import BULK_BODY, JOB_SPEC_BODY
from jobs.commands import submission
from jobs.commands.submission import SubmissionResult
from jobs.errors import SpecInvalid, SubmissionNotAllowed
from jobs.models import Job
from jobs.queries import visible_jobs
from jobs.queries.curves import sparklines
from jobs.queries.listing import pages
from jobs.queries.listing.filters import JobFilter
from jobs.queries.listing.pages import JobOrder
from jobs.spec.arrays import expansion
from jobs.spec.bulk import SentSpec
from jobs.spec.job_spec import JobSpec

LONGEST_KEY: Final = 200
_KEY: Final = re.compile(rf"[\x20-\x7e]{{1,{LONGEST_KEY}}}")
IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": f"^{_KEY.pattern}$"},
    OpenApiParameter.HEADER,
    required=False,
)
CountJobs = Callable[[Request, int], None]
"""Counts the jobs of a bulk against its sender's rate; raises if they are too many now."""
LookAhead = Callable[[Job, JobSpec, Principal], Any]
"""Says what would become of a job that is not stored, as far as its sender may know it."""
Expand = Callable[[object, Mapping[str, Team]], list[SentSpec]]
"""Returns the specs of all jobs that one spec asks for, of these teams. Raises: SpecInvalid."""
Share = Callable[[Request, Hashable, Callable[[], Any]], Any]
"""Reads, or returns what was just read for somebody who asked the same and may see the same."""


class KnowsPools(APIView):
    """A view that is told, where it is wired, how to ask about pools, and what is too large."""

    read_pools: ReadPools | None = None
    largest_body: int | None = None  # bytes of a spec; read by the parsers
    count_jobs: CountJobs = staticmethod(lambda _request, _jobs: None)

    def pools(self) -> Sequence[PoolCapacity]:
        if self.read_pools is None:
            raise TypeError("as_view(read_pools=...) is missing")
        return self.read_pools()


class _Submits(KnowsPools):
    def submit(self, request: Request, sent: Sequence[SentSpec]) -> SubmissionResult:
        principal = principal_of(request)
        return submission.submit(
            sent=sent,
            body=request.data,
            teams=teams_to_submit_for(principal),
            pools=self.pools(),
            by=principal,
            idempotency_key=idempotency_key(request),
            bounds=principal.bounds,
            traceparent=requests.traceparent(request),
        )


class SharesReads:
    """A view that is told, where it is wired, how what it reads is shared."""

    share: Share = staticmethod(lambda _request, _question, read: read())


class JobsView(SharesReads, _Submits):
    """All jobs of the caller's teams."""

    @extend_schema(
        operation_id="list_jobs",
        summary="List jobs, a page at a time",
        parameters=[requests.JobListQuery],
        responses=JobPageSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = requests.query(request, requests.JobListQuery)
        read = partial(_page, principal_of(request), parameters)
        if any(parameters[name] for name in requests.ASKED_BY_ONE):
            return Response(read())
        limit, order = parameters["limit"], parameters["order"]
        question = (parameters["team"], tuple(parameters["state"]), limit, order)
        return Response(self.share(request, question, read))

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
        made = self.submit(request, [SentSpec(document=request.data)])
        job: Any
        if made.is_new:
            job = visible_jobs.with_rights(principal, visible_jobs.as_new(made.jobs[0]))
        else:
            job = visible_jobs.find_job_with_numbers(principal, made.made[0][0])
        job.notes = made.notes
        return Response(represented(SubmittedJobSerializer, job), status=_code(made))


def _page(principal: Principal, parameters: Mapping[str, Any]) -> Any:
    order = JobOrder(parameters["order"])
    wanted = JobFilter(
        team=parameters["team"],
        pool=parameters["pool"],
        submitted_by=parameters["user"],
        states=parameters["state"],
        labels=parameters["label"],
        array=parameters["array"],
        schedule=parameters["schedule"],
        search=parameters["search"],
        since=parameters["since"],
        until=parameters["until"],
    )
    page = pages.page_of(
        wanted.of(visible_jobs.jobs_of(principal), order),
        limit=parameters["limit"],
        cursor=parameters["cursor"],
        order=order,
        is_counted=parameters["count"],
    )
    answer = {"items": page.jobs, "next_cursor": page.next_cursor, "total": page.total}
    return represented(JobPageSerializer, answer)


class SparklinesView(SharesReads, APIView):
    """How the jobs of a page of the list go."""

    @extend_schema(
        operation_id="list_job_sparklines",
        summary="How the newest jobs go, in a few numbers each",
        description="The jobs are those of `list_jobs` with the same `team`, `state` and `limit`.",
        parameters=[requests.SparklineQuery],
        responses=SparklineListSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = requests.query(request, requests.SparklineQuery)
        team, states, limit, points = (
            parameters[name] for name in ("team", "state", "limit", "points")
        )

        def read() -> Any:
            seen = visible_jobs.jobs_of(principal_of(request))
            jobs = JobFilter(team=team, states=states).of(seen)
            newest = jobs.order_by(*JobOrder.SUBMITTED.columns).only(*sparklines.COLUMNS)[:limit]
            items = sparklines.sparklines_of(list(newest), points=points)
            return SparklineListSerializer({"items": items}).data

        return Response(self.share(request, (team, tuple(states), limit, points), read))


class BulkView(_Submits):
    """Many jobs of a team, all or none."""

    @extend_schema(
        operation_id="submit_jobs",
        summary="Submit many jobs, all or none",
        description="The body is `jobs`, a list of job specs; or `spec`, a job spec, and `changes`:"
        " what differs in each job, by paths as in messages about specs: `elastic.max_workers`,"
        " `env.LR`, `command[3]`. A change without `name` gets the name of `spec` and a number from"
        " 1. Or the body is `spec` alone, with an `array`: a job for each of its trials."
        " All jobs belong to one team. A refusal names each field with the place of its job, as"
        " in `jobs[3].elastic.min_workers`. `Idempotency-Key` as for one job.",
        parameters=[IDEMPOTENCY_KEY],
        request=BULK_BODY,
        responses={201: SubmittedJobsSerializer, 200: SubmittedJobsSerializer},
    )
    def post(self, request: Request) -> Response:
        sent = expansion.read_many(request.data)
        self.count_jobs(request, len(sent))
        made = self.submit(request, sent)
        items = [{"id": job_id, "name": name} for job_id, name in made.made]
        answer = {"items": items, "notes": made.notes, "array": submission.array_of(made)}
        return Response(SubmittedJobsSerializer(answer).data, status=_code(made))


class ValidateView(KnowsPools):
    """Would this spec be accepted, and what would become of it?"""

    look_ahead: LookAhead | None = None
    expand: Expand = staticmethod(lambda document, _teams: expansion.read_one(document))

    @extend_schema(
        operation_id="validate_job",
        summary="Check a job spec without submitting it",
        description="With `outlook`, the planner is asked as well: whether the job would start now"
        " and with how many workers, which jobs would give way, and when it starts and ends. Of a"
        " spec with an `array` or a `sweep` all trials are checked; what else is said is said of"
        " the first.",
        parameters=[requests.ValidationQuery],
        request=JOB_SPEC_BODY,
        responses=ValidationSerializer,
    )
    def post(self, request: Request) -> Response:
        wants_outlook = requests.query(request, requests.ValidationQuery)["outlook"]
        principal = principal_of(request)
        answer: dict[str, Any] = {"resolved_spec": None, "problems": [], "notes": [], "trials": 0}
        try:
            teams = principal.teams_where(Permission.SUBMIT)
            sent = self.expand(request.data, teams)
            self.count_jobs(request, len(sent))
            admitted = call.admit_all(
                sent, teams=teams, pools=self.pools(), bounds=principal.bounds
            )
        except SpecInvalid as error:
            problems = [problem.as_detail() for problem in error.problems]
            return Response({**answer, "problems": problems, "outlook": None})
        outlook = None
        if wants_outlook and self.look_ahead is not None:
            job, *_ = submission.new_rows(admitted, sent, principal)
            outlook = self.look_ahead(job, admitted.specs[0].spec, principal)
        answer |= {"resolved_spec": admitted.specs[0].resolved_spec(), "notes": admitted.notes}
        answer["trials"] = len(sent) if sent[0].trial else 0
        return Response(ValidationSerializer({**answer, "outlook": outlook}).data)


def teams_to_submit_for(principal: Principal) -> Mapping[str, Team]:
    """Return the teams for which the caller may submit jobs.

    Raises:
        SubmissionNotAllowed: they see jobs of teams, and may submit for none of these.
    """
    teams = principal.teams_where(Permission.SUBMIT)
    if principal.seen and not teams:
        raise SubmissionNotAllowed
    return teams


def _code(made: SubmissionResult) -> int:
    return status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK


def idempotency_key(request: Request) -> str | None:
    """Return the key that came with a request. Raises: ValidationError."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        raise serializers.ValidationError(
            {"Idempotency-Key": f"Use 1 to {LONGEST_KEY} printable ASCII characters."}
        )
    return key
