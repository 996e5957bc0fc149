"""What happened to all jobs that somebody sees, after a position? A page takes two statements.

A page looks at a bounded number of events, whoever they are of, so it may be empty although there
are more. Whoever reads is to call `number_events` before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Max

from jobs.models.event import NOT_IN_THE_FEED, Event, EventFeed

MOST_LOOKED_AT: Final = 5000  # guessed: some ten milliseconds of the database


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Events in the order of their positions, and where to go on."""

    events: Sequence[Event]
    reached: int  # the position behind which the next page begins
    has_more: bool  # it would not be the end now


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFilter:
    """Whose events, and which; None: all."""

    team_ids: Collection[int] | None
    kinds: Collection[str] | None = None
    job_id: str | None = None

    def wants(self, *, team_id: int, job_id: str, kind: str) -> bool:
        """Return whether an event is one of these."""
        return (
            (self.team_ids is None or team_id in self.team_ids)
            and (self.kinds is None or kind in self.kinds)
            and (self.job_id is None or job_id == self.job_id)
        )


def last_position() -> int:
    """Return the position of the newest event, or of one that was newer and is forgotten."""
    return EventFeed.objects.values_list("last_position", flat=True).first() or NOT_IN_THE_FEED


def page_after(position: int, wanted: FeedFilter, *, most: int) -> FeedPage:
    """Return up to `most` events behind this position, each with its job and its team."""
    after = Event.objects.filter(position__gt=max(position, NOT_IN_THE_FEED)).order_by("position")
    seen = after[:MOST_LOOKED_AT].aggregate(last=Max("position"), count=Count("pk"))
    if seen["last"] is None:
        return FeedPage(events=(), reached=position, has_more=False)
    looked_at = after.filter(position__lte=seen["last"])
    if wanted.team_ids is not None:
        looked_at = looked_at.filter(job__team__in=wanted.team_ids)
    if wanted.kinds is not None:
        looked_at = looked_at.filter(kind__in=wanted.kinds)
    if wanted.job_id is not None:
        looked_at = looked_at.filter(job_id=wanted.job_id)
    events = [*looked_at.select_related("job__team").only(*_SHOWN)[: most + 1]]
    if len(events) > most:
        return FeedPage(events=events[:most], reached=_place(events[most - 1]), has_more=True)
    is_whole = seen["count"] == MOST_LOOKED_AT
    return FeedPage(events=events, reached=seen["last"], has_more=is_whole)


def _place(event: Event) -> int:
    return event.position or NOT_IN_THE_FEED


_SHOWN: Final = (
    *("position", "at", "kind", "old_state", "new_state", "reason", "message", "data"),
    *("job__name", "job__team__name"),
)
