"""What is written about a request, and when? A change and its entry are one transaction.

All requests for views come by here, so no view can be forgotten. Who reads costs nothing, unless
they are refused; who changes something costs one statement, whatever becomes of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from django.contrib import admin
from django.db import DatabaseError, InterfaceError, transaction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from tenancy.audit import writing
from tenancy.audit.records import AuditRecord, recording
from tenancy.models import AuditOutcome, AuditSenderKind

from control_plane.api.audit.operations import IN_PIECES, AskedOperation, asked_by
from control_plane.api.audit.senders import note_use_of_token, sender_of
from control_plane.web.answers import error_responses

_RECORD: Final = "concertina.audit"  # of a request: what is known of it, if it changes something
_IS_WRITTEN: Final = "concertina.audit_is_written"
_REFUSED: Final = frozenset({401, 403, 429})
_FAILED: Final = 400
_FOUND: Final = 302
_UNAVAILABLE: Final = 503  # the database is away, and whatever is written into it
_log: Final = logging.getLogger(__name__)


class AuditMiddleware:
    """The last before the views."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if not request.META.get(_IS_WRITTEN):
            _note_what_was_not_done(request, response)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        """Answer requests that change something; others go on to their view."""
        asked = asked_by(request)
        if asked is None or not asked.changes:
            return None
        record = AuditRecord(operation=asked.name, target=asked.target)
        request.META[_RECORD] = record
        with recording(record):
            if asked.is_together:
                return _changed_together(
                    request, asked, record, lambda: view(request, *args, **kwargs)
                )
            response: HttpResponseBase = view(request, *args, **kwargs)
            request.META[_IS_WRITTEN] = _note_what_was_done(request, asked, record, response)
            return response


def _changed_together(
    request: HttpRequest,
    asked: AskedOperation,
    record: AuditRecord,
    answer: Callable[[], HttpResponseBase],
) -> HttpResponseBase:
    """Answer in a transaction, whose end may bring errors that the view's handler never sees."""
    try:
        with transaction.atomic():
            response = answer()
            is_written = _note_what_was_done(request, asked, record, response)
            if response.status_code >= _FAILED:  # the framework made it of an error
                transaction.set_rollback(True)
    except (DatabaseError, InterfaceError) as error:
        known = None if asked.is_page else error_responses.handle(error, {"request": request})
        if known is None:
            raise
        told = {name: value for name, value in known.items() if name != "Content-Type"}
        return JsonResponse(known.data, status=known.status_code, headers=told)
    request.META[_IS_WRITTEN] = is_written  # only now: until here its end could fail
    if response.status_code >= _FAILED:
        note_use_of_token(request)
    return response


def _note_what_was_done(
    request: HttpRequest, asked: AskedOperation, record: AuditRecord, response: HttpResponseBase
) -> bool:
    """Write an entry if it was done; return whether it was."""
    if _outcome(request, asked, record, response) != AuditOutcome.DONE:
        return False
    if asked.is_page and asked.name.endswith("_changelist"):
        record.tell_each_row()
        if not record.has_changes:
            record.after = _action(request)
    sender = writing.as_told_by(sender_of(request), record)
    is_often = asked.name in IN_PIECES or sender.kind == AuditSenderKind.UNKNOWN
    write = writing.count if is_often else writing.write
    write(record, sender, AuditOutcome.DONE, answer=response.status_code, at=timezone.now())
    return True


def _note_what_was_not_done(request: HttpRequest, response: HttpResponseBase) -> None:
    """Count it with others of its kind. Nobody is told if that fails: they have their answer."""
    record: AuditRecord | None = request.META.get(_RECORD)
    if record is None and response.status_code not in _REFUSED:
        return
    asked = asked_by(request)
    if asked is None:
        return
    record = record or AuditRecord(operation=asked.name, target=asked.target)
    outcome = _outcome(request, asked, record, response)
    if outcome is None or outcome == AuditOutcome.DONE:
        return
    record.before = record.after = None
    try:
        writing.count(
            record, sender_of(request), outcome, answer=response.status_code, at=timezone.now()
        )
    except (DatabaseError, InterfaceError) as error:
        extra = {"action": "audit", "operation": asked.name, "error": str(error)}
        _log.warning("A refusal is missing in the audit log.", extra=extra)


def _outcome(
    request: HttpRequest, asked: AskedOperation, record: AuditRecord, response: HttpResponseBase
) -> AuditOutcome | None:
    """Return what became of the request; None: nothing that is told of."""
    status = response.status_code
    if status == _UNAVAILABLE:
        return None
    if status in _REFUSED:
        return AuditOutcome.REFUSED
    if status >= _FAILED:
        return AuditOutcome.FAILED
    return _outcome_of_page(request, record, status) if asked.is_page else AuditOutcome.DONE


def _outcome_of_page(request: HttpRequest, record: AuditRecord, status: int) -> AuditOutcome | None:
    """Return the same of the administration, which refuses by showing a form to sign in."""
    if record.has_changes or record.person is not None:
        return AuditOutcome.DONE
    if record.tried_name is not None:
        return AuditOutcome.REFUSED
    if status != _FOUND:
        return None  # a form is shown again, or asks whether it is meant
    return AuditOutcome.DONE if admin.site.has_permission(request) else AuditOutcome.REFUSED


def _action(request: HttpRequest) -> dict[str, Any]:
    """Return what was done with the rows of a list that somebody chose."""
    chosen = request.POST.getlist("_selected_action")
    return {"action": request.POST.get("action", ""), "chosen": chosen}
