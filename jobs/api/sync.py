"""What coordinators of jobs report to. Not part of the public API.

`control_plane.front.coordinators` asks `read` and `answers` for many reports at once; the view is
for one, where nobody stands in front of Django.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from jobs.commands.observations.sync import HELD, ArrivedReport, Outcome, record_sync, record_syncs
from jobs.errors import (
    CoordinatorReplaced,
    JobNotFound,
    JobOver,
    JobsError,
    NotTheCoordinator,
)
from jobs.reports import job_token
from jobs.reports.sync_report import CheckedSyncReport

Answer = tuple[int, dict[str, Any]]  # status and document
_STATUS: dict[type[JobsError], int] = {
    NotTheCoordinator: 401,
    JobNotFound: 404,
    CoordinatorReplaced: 409,
    JobOver: 409,
}

_log = logging.getLogger(__name__)


@csrf_exempt  # authenticated by the job's token, never by a cookie
@require_POST
def sync(request: HttpRequest, job_id: str) -> JsonResponse:
    """Take a `CheckedSyncReport`, answer with a `Desired` (see `concertina_worker.protocol`)."""
    authorization = request.headers.get("Authorization", "")
    arrived = read(job_id, authorization, request.read(LARGEST_REPORT_BYTES + 1))
    if not isinstance(arrived, ArrivedReport):
        status, document = arrived
    else:
        status, document = _answer(arrived, _alone(arrived))
    return JsonResponse(document, status=status)


def read(job_id: str, authorization: str, body: bytes) -> ArrivedReport | Answer:
    """Return the report if it is one, and of the job's own coordinator; else the refusal."""
    scheme, _, token = authorization.partition(" ")
    credential = job_token.read(token.strip(), job_id, now=timezone.now())
    if scheme.lower() != "bearer" or credential is None:
        return _refusal(401, NotTheCoordinator.code, str(NotTheCoordinator()))
    if len(body) > LARGEST_REPORT_BYTES:
        return _refusal(413, "too_large", f"A report has at most {LARGEST_REPORT_BYTES} bytes.")
    try:
        report = CheckedSyncReport.model_validate(json.loads(body))
    except ValidationError as error:
        return _refusal(400, "invalid_report", f"{error.error_count()} parts do not fit.", error)
    except (ValueError, RecursionError):
        return _refusal(400, "malformed", "The body is not JSON.")
    return ArrivedReport(job_id=job_id, report=report, credential=credential)


def answers(arrived: Sequence[ArrivedReport]) -> list[Answer | None]:
    """Store reports, each of another job, and answer each; None: try again in a moment."""
    outcomes = record_syncs(arrived, now=timezone.now())
    return [
        None if outcomes[one.job_id] == HELD else _answer(one, outcomes[one.job_id])
        for one in arrived
    ]


def _alone(arrived: ArrivedReport) -> Outcome:
    try:
        return record_sync(
            job_id=arrived.job_id,
            report=arrived.report,
            credential=arrived.credential,
            now=timezone.now(),
        )
    except (JobsError, OperationalError, InterfaceError) as problem:
        return problem


def _answer(arrived: ArrivedReport, outcome: Outcome) -> Answer:
    if isinstance(outcome, JobsError):
        return _refusal(_STATUS[type(outcome)], outcome.code, str(outcome))
    if isinstance(outcome, OperationalError | InterfaceError):
        return _refusal(503, "unavailable", "The database does not answer now; report again.")
    if isinstance(outcome, Exception):
        extra = {"action": "sync", "job_id": arrived.job_id}
        _log.error("A report could not be stored.", extra=extra, exc_info=outcome)
        return _refusal(500, "internal_error", "Something went wrong here; report again.")
    document = dict[str, Any](outcome)  # type: ignore[arg-type] # what is desired: all else is above
    if arrived.credential.is_to_be_renewed:
        term = arrived.report.term
        document["token"] = job_token.of_coordinator(arrived.job_id, term=term, now=timezone.now())
    return 200, document


def _refusal(status: int, code: str, message: str, error: ValidationError | None = None) -> Answer:
    details: list[dict[str, Any]] = [
        {
            "field": ".".join(map(str, item["loc"])),
            "value": None,
            "problem": item["msg"],
            "remedy": "See concertina_worker.protocol.",
        }
        for item in (error.errors(include_url=False, include_input=False) if error else ())
    ]
    return status, {"code": code, "message": message, "details": details}
