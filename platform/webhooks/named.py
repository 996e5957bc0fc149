"""Which webhooks does a job name in its `notify`, and on which occasions?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from autoscaler.job_vocabulary import EventKind
from jobs.lifecycle import JobState
from jobs.models import Event, Job
from jobs.spec.parts.notify import Occasion
from jobs.spec.stored_fields import NOTIFY_ON, NOTIFY_TO

_BY_STATE: Final[Mapping[str, Occasion]] = {
    JobState.COMPLETED: Occasion.COMPLETED,
    JobState.FAILED: Occasion.FAILED,
    JobState.PAUSED: Occasion.PAUSED,
}
_BY_KIND: Final[Mapping[str, Occasion]] = {
    EventKind.IDLE: Occasion.IDLE,
    EventKind.DEADLINE_AT_RISK: Occasion.DEADLINE_AT_RISK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the jobs of some events want to be told, and whom."""

    by_job: Mapping[str, tuple[Collection[str], Collection[str]]]  # names, and occasions

    @classmethod
    def by(cls, events: Iterable[Event]) -> Named:
        """Read it in one statement; in none where nothing happened that anybody may ask for."""
        ids = {event.job_id for event in events if occasion_of(event) is not None}
        if not ids:
            return cls(by_job={})
        asked = Job.objects.filter(pk__in=ids, **{f"{NOTIFY_TO.lookup}__isnull": False})
        found = asked.values_list("pk", NOTIFY_TO.lookup, NOTIFY_ON.lookup)
        return cls(by_job={job: (names, occasions) for job, names, occasions in found})

    def names(self, webhook: str, event: Event) -> bool:
        """Return whether the event's job wants this webhook to be told of it."""
        names, occasions = self.by_job.get(event.job_id, ((), ()))
        return webhook in names and occasion_of(event) in occasions


def occasion_of(event: Event) -> Occasion | None:
    """Return which occasion the event is, if it is one."""
    if event.kind != EventKind.STATE_CHANGED:
        return _BY_KIND.get(event.kind)
    if event.new_state == JobState.RUNNING and event.old_state == JobState.STARTING:
        return Occasion.STARTED
    if event.new_state == JobState.STOPPING:  # what gives way is not paused, but queued again
        return Occasion.PAUSED if event.data.get("gives_way") else None
    if event.new_state == JobState.RESCALING:
        workers = event.data.get("workers", {"from": 0, "to": 0})
        return Occasion.SHRUNK if workers["to"] < workers["from"] else None
    return _BY_STATE.get(event.new_state)
