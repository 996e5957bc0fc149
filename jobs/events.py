"""What happened to a job? One row per happening, written in the transaction that made it so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jobs.models import Event

SUBMITTED: Final = "submitted"
STATE_CHANGED: Final = "state_changed"
STOP_REQUESTED: Final = "stop_requested"
MODE_DETECTED: Final = "mode_detected"
WORKERS_LOST: Final = "workers_lost"
WORKER_HUNG: Final = "worker_hung"
WORK_LOST: Final = "work_lost"
STRAGGLER_FOUND: Final = "straggler_found"
DEADLINE_AT_RISK: Final = "deadline_at_risk"
SCRIPT_WARNING: Final = "script_warning"
PLANNING_FAILED: Final = "planning_failed"
PLANNED_AGAIN: Final = "planned_again"


def record(
    *,
    job_id: str,
    kind: str,
    reason: str = "",
    message: str = "",
    old_state: str = "",
    new_state: str = "",
    data: Mapping[str, Any] | None = None,
) -> None:
    """Write an event. Call it inside the transaction of the change it tells of."""
    Event.objects.create(
        job_id=job_id,
        kind=kind,
        old_state=old_state,
        new_state=new_state,
        reason=reason,
        message=message,
        data=dict(data or {}),
    )
