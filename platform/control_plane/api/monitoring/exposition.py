"""How do readings become what Prometheus takes?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from autoscaler.gpu_accounts.models import AccountsClock
from control_plane.api.monitoring import deliveries, ledger, loop, queue
from control_plane.api.monitoring.families import FAMILIES, LAST_TICK, MetricFamily, MetricReading

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4  # which every scraper takes


def exposed() -> bytes:
    """Read everything, and return it as text.

    Nothing is counted in this process: whichever of several is asked, the answer is the same.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_InstallationCollector(_readings()))
    return generate_latest(registry)


def _readings() -> Iterator[MetricReading]:
    now = timezone.now()
    last_tick = AccountsClock.objects.values_list("at", flat=True).first()
    if last_tick is not None:
        yield LAST_TICK, (), last_tick.timestamp()
    yield from queue.readings(now, last_tick=last_tick)
    yield from loop.readings()
    yield from deliveries.readings(now)
    yield from ledger.readings(now)


class _InstallationCollector(Collector):
    """Every family, in the order of the table, with what was read."""

    def __init__(self, readings: Iterable[MetricReading]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        found = {family: _empty(family) for family in FAMILIES}
        for family, labels, value in self._readings:
            found[family].add_metric([*labels], value)
        yield from found.values()


def _empty(family: MetricFamily) -> CounterMetricFamily | GaugeMetricFamily:
    kind = CounterMetricFamily if family.only_grows else GaugeMetricFamily
    return kind(family.name, family.meaning, labels=family.labels)
