"""How does the end of a shell get into the audit log? As an entry of whoever had it, once."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.utils import timezone
from tenancy.audit import writing
from tenancy.audit.records import AuditRecord
from tenancy.audit.writing import AuditSender
from tenancy.models import AuditOutcome, AuditSenderKind

from control_plane.shells.orders import ShellEnd, ShellOrder

OPERATION: Final = "end_shell"
_log: Final = logging.getLogger(__name__)


def note_end(order: ShellOrder, end: ShellEnd, *, exit_code: int | None) -> None:
    """Write it, unless the other side did; what the database refuses is told in our own log."""
    told: dict[str, Any] = {
        "worker": order.worker,
        "why": end.value,
        "seconds": max(round(time.time() - order.asked_at, 1), 0.0),  # clocks differ
    }
    if exit_code is not None:
        told["exit_code"] = exit_code
    record = AuditRecord(
        operation=OPERATION, target=order.target, team_id=order.team_id, after=told
    )
    kind = AuditSenderKind(order.sender["kind"])
    close_old_connections()
    try:
        sender = AuditSender(**{**order.sender, "kind": kind})
        writing.count(record, sender, AuditOutcome.DONE, answer=200, at=timezone.now())
    except (DatabaseError, InterfaceError) as error:
        extra = {"action": "shell", "job_id": order.job_id, "error": str(error), **told}
        _log.warning("The end of a shell is missing in the audit log.", extra=extra)
    finally:
        connection.close()
