"""The endpoint a job's coordinator syncs with. Not part of the public API."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from jobs.commands.observations.sync import record_sync
from jobs.errors import CoordinatorReplaced, JobNotFound, JobOver, NotTheCoordinator
from jobs.reports import job_token
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import SyncReport

Answer = tuple[int, dict[str, Any]]  # status and document


@csrf_exempt  # authenticated by the job's token, never by a cookie
@require_POST
def sync(request: HttpRequest, job_id: str) -> JsonResponse:
    """Answer where nobody in front of Django has: see `control_plane.front.coordinators`."""
    authorization = request.headers.get("Authorization", "")
    status, document = answer(job_id, authorization, lambda: request.read(LARGEST_REPORT_BYTES + 1))
    return JsonResponse(document, status=status)


def answer(job_id: str, authorization: str, read: Callable[[], bytes]) -> Answer:
    """Take a `SyncReport`, answer with a `Desired` (see `concertina_worker.protocol`)."""
    scheme, _, token = authorization.partition(" ")
    now = timezone.now()
    credential = job_token.read(token.strip(), job_id, now=now)
    if scheme.lower() != "bearer" or credential is None:
        return _refusal(401, NotTheCoordinator.code, str(NotTheCoordinator()))
    body = read()
    if len(body) > LARGEST_REPORT_BYTES:
        return _refusal(413, "too_large", f"A report has at most {LARGEST_REPORT_BYTES} bytes.")
    try:
        report = SyncReport.model_validate(json.loads(body))
    except ValidationError as error:
        return _refusal(400, "invalid_report", f"{error.error_count()} parts do not fit.", error)
    except (ValueError, RecursionError):
        return _refusal(400, "malformed", "The body is not JSON.")
    return _recorded(job_id, report, credential, now)


def _recorded(job_id: str, report: SyncReport, credential: Credential, now: datetime) -> Answer:
    try:
        desired = record_sync(job_id=job_id, report=report, credential=credential, now=now)
    except NotTheCoordinator as error:
        return _refusal(401, error.code, str(error))
    except JobNotFound as error:
        return _refusal(404, error.code, str(error))
    except (CoordinatorReplaced, JobOver) as error:
        return _refusal(409, error.code, str(error))
    except (OperationalError, InterfaceError):
        return _refusal(503, "unavailable", "The database does not answer now; report again.")
    if credential.is_to_be_renewed:
        desired["token"] = job_token.of_coordinator(job_id, term=report.term, now=now)
    return 200, dict(desired)


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
