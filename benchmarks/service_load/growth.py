"""How do costs grow with the number of jobs? Charts as SVG files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from autoscaler.plots.axis import Axis
from autoscaler.plots.line_chart import LineChart, Series
from benchmarks.service_load.measurement import Measurement

Curve = Callable[[Measurement], float | None]

CHARTS: Final[Mapping[str, tuple[str, str, Mapping[str, Curve]]]] = {
    "cores": (
        "Cores that a service uses while jobs run",
        "cores",
        {
            name: (lambda one, name=name: one.cores.get(name))  # type: ignore[misc]
            for name in ("api", "postgres", "control", "io", "beat")
        },
    ),
    "tick_statements": (
        "Statements of a tick",
        "statements",
        {"statements": lambda one: one.tick_statements},
    ),
    "tick_time": (
        "Processor time of a tick",
        "ms",
        {"control": lambda one: one.tick_ms},
    ),
    "report": (
        "Processor time of a report",
        "ms",
        {"api and PostgreSQL": lambda one: one.report_ms},
    ),
    "memory": (
        "Memory of the service's processes",
        "MiB",
        {
            name: (lambda one, name=name: one.memory_mib.get(name))  # type: ignore[misc]
            for name in ("api", "postgres", "control", "io", "beat")
        },
    ),
    "growth": (
        "Growth of the database a day",
        "GB",
        {"tables and indexes": lambda one: one.gigabytes_per_day},
    ),
}


def draw(measured: Sequence[Measurement], folder: Path) -> None:
    """Write a file for each chart."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, unit, curves) in CHARTS.items():
        series = [
            Series(name=curve, points=_points(measured, value), slot=slot, has_marks=True)
            for slot, (curve, value) in enumerate(curves.items())
        ]
        chart = LineChart(
            description=title, series=series, x=Axis(label="running jobs"), y=Axis(label=unit)
        )
        (folder / f"service-load-{name.replace('_', '-')}.svg").write_text(chart.drawn().document())


def _points(measured: Sequence[Measurement], value: Curve) -> tuple[tuple[float, float], ...]:
    found = ((float(one.running), value(one)) for one in measured)
    return tuple((x, y) for x, y in found if y is not None)
