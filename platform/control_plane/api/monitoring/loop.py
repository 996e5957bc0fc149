"""What have ticks done, and what is a GPU worth by the newest plan?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from autoscaler.control_loop.models import Tick, TickTotal
from control_plane.api.monitoring import families
from control_plane.api.monitoring.families import MetricFamily, MetricReading

Counted = TickTotal.Counted
_WITHOUT_KINDS: Final[Mapping[Counted, MetricFamily]] = {
    Counted.TICKS: families.TICKS,
    Counted.ALARMS: families.ALARMS,
    Counted.REFUSED: families.REFUSED_PLANS,
}


def readings() -> Iterator[MetricReading]:
    """Yield what is read in two statements; whatever was never counted is 0."""
    known = {(one.counted, one.kind): one for one in TickTotal.objects.all()}

    def total(counted: Counted, kind: str = "") -> TickTotal:
        return known.get((counted, kind)) or TickTotal()

    for counted, family in _WITHOUT_KINDS.items():
        yield family, (), total(counted).total
    for part in TickTotal.PARTS:
        took = total(Counted.SECONDS, part)
        yield families.TICK_SECONDS, (part,), took.total
        yield families.LAST_TICK_SECONDS, (part,), took.last
    for action in TickTotal.CHANGES:
        yield families.CHANGES, (action,), total(Counted.CHANGES, action).total
    yield from _prices()


def _prices() -> Iterator[MetricReading]:
    newest = Tick.objects.exclude(pools=[]).order_by("-at").values_list("pools", flat=True).first()
    for pool in newest or ():
        if (price := pool.get("price")) is not None:
            yield families.GPU_PRICE, (pool["pool"], pool.get("policy", "")), price
