"""Which place has each event among those of all jobs? One that is given when it is committed.

The ids of rows are given before that: a reader who goes on behind the highest id that it saw would
miss an event of a transaction that began earlier and was committed later. So whoever reads the feed
first gives positions to the events that it can see and that have none. Only one may do so at a
time, the holder of a row, until its transaction is over: whoever sees a position sees all below it
as well, and later ones are higher. See docs/decisions/0111.
"""

from __future__ import annotations

from typing import Final

from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Coalesce

from jobs.models.event import Event, EventFeed

MOST_AT_ONCE: Final = 1000  # whoever reads next goes on
_THE_ONLY_ROW: Final = 1
_NUMBER: Final = """
    UPDATE jobs_event AS event SET position = numbered.position
    FROM (
        SELECT id, %s + row_number() OVER (ORDER BY id) AS position
        FROM (
            SELECT id FROM jobs_event WHERE position IS NULL ORDER BY id LIMIT %s
        ) AS unnumbered
    ) AS numbered
    WHERE event.id = numbered.id
    RETURNING event.position
"""


def number_events() -> int:
    """Give positions to committed events that have none; return to how many.

    It takes one statement where there is none. If somebody else is at it, nothing is done and
    nobody waited for: they are found by whoever reads next.
    """
    if not Event.objects.filter(position=None).exists():
        return 0
    with transaction.atomic():
        feed = _held_feed()
        return 0 if feed is None else _number(feed)


def _held_feed() -> EventFeed | None:
    """Return the row that only one may hold; None: somebody else does."""
    feed = EventFeed.objects.select_for_update(skip_locked=True).filter(pk=_THE_ONLY_ROW).first()
    if feed is not None or EventFeed.objects.exists():
        return feed
    last = Event.objects.aggregate(last=Coalesce(Max("position"), 0))["last"]
    EventFeed.objects.bulk_create(
        [EventFeed(pk=_THE_ONLY_ROW, last_position=last)], ignore_conflicts=True
    )
    return EventFeed.objects.select_for_update().get(pk=_THE_ONLY_ROW)


def _number(feed: EventFeed) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_NUMBER, [feed.last_position, MOST_AT_ONCE])
        given = [position for (position,) in cursor.fetchall()]
    if given:  # one that was deleted meanwhile leaves a gap
        feed.last_position = max(given)
        feed.save(update_fields=["last_position"])
    return len(given)
