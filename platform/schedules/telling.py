"""Webhooks are told what went wrong with a schedule, by way of their outbox."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from webhooks import outbox

from jobs.spec.parts.notify import Occasion
from schedules.models import TeamSchedule

_TOLD_AS: Final = Occasion.FAILED  # of those on which a spec's `notify` may have somebody told


def tell(schedule: TeamSchedule, kind: str, message: str, now: datetime) -> None:
    """Put it into the outbox, in the caller's transaction."""
    event = {
        "kind": kind,
        "at": now.isoformat().replace("+00:00", "Z"),
        "team": schedule.team.name,
        "schedule": schedule.name,
        "schedule_id": schedule.id,
        "message": message,
    }
    outbox.tell_of_schedule(
        schedule.team_id,
        event,
        named=_named(schedule.spec),
        now=now,
        url=settings.CONCERTINA.service_url,
    )


def _named(spec: Mapping[str, Any]) -> Collection[str]:
    """Return whom the spec wants to be told when one of its jobs fails."""
    notify = spec.get("notify")
    if not isinstance(notify, Mapping):
        return ()
    names, occasions = notify.get("to") or (), notify.get("on")
    return names if occasions is None or _TOLD_AS in occasions else ()
