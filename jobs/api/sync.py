"""The endpoint a job's coordinator syncs with. Not part of the public API."""

from __future__ import annotations

import json
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from jobs import job_token
from jobs.commands.sync import record_sync
from jobs.errors import CoordinatorReplaced, JobNotFound, JobOver
from jobs.sync_report import SyncReport


@csrf_exempt  # authenticated by the job's token, never by a cookie
@require_POST
def sync(request: HttpRequest, job_id: str) -> JsonResponse:
    """Take a `SyncReport`, answer with a `Desired` (see `concertina_worker.protocol`)."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not job_token.opens(token.strip(), job_id):
        return _refusal(401, "not_authenticated", "This needs the token of the job.")
    body = request.read(LARGEST_REPORT_BYTES + 1)
    if len(body) > LARGEST_REPORT_BYTES:
        return _refusal(413, "too_large", f"A report has at most {LARGEST_REPORT_BYTES} bytes.")
    try:
        report = SyncReport.model_validate(json.loads(body))
    except ValidationError as error:
        return _refusal(400, "invalid_report", f"{error.error_count()} parts do not fit.", error)
    except (ValueError, RecursionError):
        return _refusal(400, "malformed", "The body is not JSON.")
    return _answer(job_id, report)


def _answer(job_id: str, report: SyncReport) -> JsonResponse:
    try:
        return JsonResponse(record_sync(job_id=job_id, report=report, now=timezone.now()))
    except JobNotFound as error:
        return _refusal(404, error.code, str(error))
    except (CoordinatorReplaced, JobOver) as error:
        return _refusal(409, error.code, str(error))
    except (OperationalError, InterfaceError):
        return _refusal(503, "unavailable", "The database does not answer now; report again.")


def _refusal(
    status: int, code: str, message: str, error: ValidationError | None = None
) -> JsonResponse:
    details: list[dict[str, Any]] = [
        {
            "field": ".".join(map(str, item["loc"])),
            "value": None,
            "problem": item["msg"],
            "remedy": "See concertina_worker.protocol.",
        }
        for item in (error.errors(include_url=False, include_input=False) if error else ())
    ]
    body = {"code": code, "message": message, "details": details}
    return JsonResponse(body, status=status)
