"""How much have all ticks done together? What each did is added, so that it is never lost.

The journal of ticks has only those that changed something, and forgets them; what monitoring counts
has to survive that, and the end of every process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from django.db import connection

from autoscaler.control_loop.models import TickTotal
from autoscaler.planning.decisions.plan import Action

PARTS: Final = ("observe", "plan", "apply")
CHANGES: Final = (Action.START, Action.RESCALE, Action.PAUSE, Action.DROP)
_ADD: Final = """
    INSERT INTO control_loop_ticktotal AS known (counted, kind, total, last)
    SELECT counted, kind, amount, amount
    FROM unnest(%(counted)s::text[], %(kinds)s::text[], %(amounts)s::float8[])
        AS new (counted, kind, amount)
    ON CONFLICT (counted, kind)
    DO UPDATE SET total = known.total + EXCLUDED.total, last = EXCLUDED.last
"""
Counted = TickTotal.Counted


def add(
    *, seconds: Mapping[str, float], changes: Iterable[str], has_alarm: bool, refused: int
) -> None:
    """Add what one tick did, in one statement of the caller's transaction.

    Args:
        seconds: that each of `PARTS` took.
        changes: the action of each decision that was carried out.
        has_alarm: something was wrong with a plan.
        refused: for how many pools no plan was applied.
    """
    done = Counter(changes)
    rows: list[tuple[str, str, float]] = [
        (Counted.TICKS, "", 1),
        (Counted.ALARMS, "", int(has_alarm)),
        (Counted.REFUSED, "", refused),
        *((Counted.SECONDS, part, seconds.get(part, 0.0)) for part in PARTS),
        *((Counted.CHANGES, action, done[action]) for action in CHANGES),
    ]
    counted, kinds, amounts = zip(*rows, strict=True)
    parameters = {"counted": [*counted], "kinds": [*kinds], "amounts": [*map(float, amounts)]}
    with connection.cursor() as cursor:
        cursor.execute(_ADD, parameters)
