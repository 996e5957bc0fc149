"""How does the API say that something went wrong? Always with `code`, `message` and `details`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
)
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback
from schedules.errors import ScheduleError
from storage.errors import StorageError
from sweeps.errors import SweepError
from tenancy.errors import TenancyError
from webhooks.errors import WebhookError

from autoscaler.simulation.api.errors import SimulationError
from control_plane.web.answers.error_body import envelope
from control_plane.web.body_parsers import BodyTooLarge, NotPlain
from jobs.errors import (
    ArrayNotFound,
    BadCursor,
    ChangedMeanwhile,
    IdempotencyConflict,
    IllegalTransition,
    JobNotFound,
    JobNotOver,
    JobNotYours,
    JobPinned,
    JobsError,
    LimitUsedUp,
    NameInUse,
    RulesChangedMeanwhile,
    RulesNotYours,
    SpecInvalid,
    SubmissionNotAllowed,
    SweepSteersTrials,
    TableTooLarge,
    TeamDiskFull,
    TeamInUse,
    TemplateChangedMeanwhile,
    TemplateNameTaken,
    TemplateNotFound,
    TooManyPinned,
    TooManyQueued,
    TooManyTemplates,
)

logger: Final = logging.getLogger(__name__)

_STATUS: Final[Mapping[type[JobsError], int]] = {
    SpecInvalid: 422,
    ArrayNotFound: 404,
    JobNotFound: 404,
    JobNotYours: 403,
    SubmissionNotAllowed: 403,
    BadCursor: 400,
    NameInUse: 409,
    TooManyPinned: 409,
    TooManyQueued: 409,
    TeamDiskFull: 409,
    ChangedMeanwhile: 412,
    LimitUsedUp: 409,
    IdempotencyConflict: 409,
    IllegalTransition: 409,
    SweepSteersTrials: 409,
    JobNotOver: 409,
    JobPinned: 409,
    TableTooLarge: 400,
    TeamInUse: 409,
    RulesNotYours: 403,
    RulesChangedMeanwhile: 412,
    TemplateNotFound: 404,
    TemplateNameTaken: 409,
    TooManyTemplates: 409,
    TemplateChangedMeanwhile: 412,
}
_CODE: Final[Mapping[int, str]] = {
    400: "invalid_request",
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "internal_error",
    503: "unavailable",
}


_WITH_STATUS: Final = (SimulationError, StorageError, WebhookError, ScheduleError, SweepError)
_FOR_PROGRAMS: Final = ("/api/", "/internal/")
# PostgreSQL's codes for rows that another request wrote or deleted at the same time.
_RACES: Final = {"23505": "unique_violation", "23503": "foreign_key_violation"}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn an exception of a view into a response; None for a defect of ours, which is a 500."""
    set_rollback()
    if isinstance(error, JobsError):
        return _of_jobs(error)
    if isinstance(error, _WITH_STATUS):
        return Response(envelope(error.code, str(error)), status=error.status)
    if isinstance(error, TenancyError):
        return _of_tenancy(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, IntegrityError) and _is_race(error):
        message = "Somebody else changed the same at this moment. Read it again, then try again."
        return Response(envelope(_CODE[409], message), status=409)
    elif isinstance(error, RequestDataTooBig):  # read before a parser could refuse it
        error = BodyTooLarge()
    elif isinstance(error, OperationalError | InterfaceError):
        logger.warning(
            "The database does not answer.",
            extra={"action": "request", "path": context["request"].path, "error": str(error)},
        )
        body = envelope(_CODE[503], "The database does not answer now; try again in a moment.")
        return Response(body, status=503, headers={"Retry-After": "2"})
    return _of_framework(error) if isinstance(error, exceptions.APIException) else None


def _is_race(error: IntegrityError) -> bool:
    """True if two requests were each right alone; whatever both checked beforehand is a 400."""
    return getattr(error.__cause__, "pgcode", None) in _RACES


def _of_jobs(error: JobsError) -> Response:
    code = error.answer_code if isinstance(error, SpecInvalid) else error.code
    details = [problem.as_detail() for problem in error.problems]
    return Response(envelope(code, str(error), details), status=_STATUS[type(error)])


def _of_tenancy(error: TenancyError) -> Response:
    details = [{"value": None, **asdict(fault)} for fault in error.faults]
    wait = getattr(error, "retry_after_seconds", None)
    return Response(
        envelope(error.code, str(error), details),
        status=error.status,
        headers={"Retry-After": str(wait)} if wait else None,
    )


def _of_framework(error: exceptions.APIException) -> Response:
    code = _CODE.get(error.status_code, "invalid_request")
    details: list[dict[str, Any]] = []
    message = str(error.detail)
    if isinstance(error, exceptions.ValidationError):
        details = list(_details("", error.detail))
        message = " ".join(f"{one['field']}: {one['problem']}".strip(": ") for one in details[:3])
    elif isinstance(error, exceptions.ParseError):
        code = "malformed"
    if isinstance(error, NotPlain):
        details = [{"value": None, **asdict(fault)} for fault in error.faults]
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(error.auth_header)  # type: ignore[attr-defined]  # set by DRF
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))  # type: ignore[attr-defined]  # of Throttled
    return Response(envelope(code, message, details), status=error.status_code, headers=headers)


def _details(field: str, detail: Any) -> Iterator[dict[str, Any]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _details(".".join(filter(None, (field, own))), inner)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _details(field, inner)
    else:
        yield {"field": field, "value": None, "problem": str(detail), "remedy": "Correct it."}


@csrf_exempt  # or who only mistyped an address would read of a missing cookie
def unknown_address(request: HttpRequest) -> JsonResponse:
    """Answer for every address under /api and /internal that leads nowhere."""
    message = f"Nothing is at {request.path}. See /api/v1/docs."
    return JsonResponse(envelope(_CODE[404], message), status=404)


def refusal(
    request: HttpRequest, message: str, details: list[dict[str, Any]] | None = None
) -> HttpResponse:
    """Answer for a request that no view should see."""
    if not request.path.startswith(_FOR_PROGRAMS):
        return HttpResponse(message, status=400, content_type="text/plain; charset=utf-8")
    return JsonResponse(envelope(_CODE[400], message, details), status=400)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for requests that Django itself refuses, as for a host that is not ours."""
    if isinstance(exception, DisallowedHost):
        return refusal(
            request,
            "The service is not known by this name. Use one that an admin lists in"
            " CONCERTINA_ALLOWED_HOSTS.",
        )
    return refusal(request, "This request is refused. See the service's log.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a defect of ours; the log has the rest."""
    if not request.path.startswith(_FOR_PROGRAMS):
        page: HttpResponseServerError = defaults.server_error(request)
        return page
    message = "Something went wrong on our side; the service's log tells more."
    return JsonResponse(envelope(_CODE[500], message), status=500)
