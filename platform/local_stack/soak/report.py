"""How does a person read a soak? A page with a chart of each thing that must stay as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from autoscaler.plots import frame
from autoscaler.plots.axis import Axis
from autoscaler.plots.line_chart import LineChart, Series
from autoscaler.plots.palette import CHART_STYLE, FONT, tokens_style
from autoscaler.plots.units import Unit
from local_stack.soak.counting.percentiles import percentile
from local_stack.soak.sample import Sample
from local_stack.soak.verdicts import Verdict

Curve = Callable[[Sample], float | None]
PROCESSES: Final = ("api", "control", "io", "beat", "postgres", "valkey", "simulator")
_SHEET: Final = f"""
{tokens_style()}{CHART_STYLE}
body {{ background: var(--page); color: var(--text); font: 14px/1.45 {FONT}; margin: 24px auto;
  max-width: 1240px; }}
main {{ display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }}
.chart {{ width: 100%; height: auto; }}
li {{ list-style: none; }}
"""


def page(samples: Sequence[Sample], verdicts: Sequence[Verdict], *, title: str) -> str:
    """The whole file, for a browser without a network."""
    items = "".join(f"<li>{escape(str(one))}</li>" for one in verdicts)
    charts = "".join(
        f"<figure><figcaption>{escape(one.description)}</figcaption>{one.inline()}</figure>"
        for one in _charts(samples)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_SHEET}</style></head><body><h1>{escape(title)}</h1><ul>{items}</ul>"
        f"<main>{charts}</main></body></html>\n"
    )


def _charts(samples: Sequence[Sample]) -> Iterator[frame.Picture]:
    yield _chart(
        samples, "Memory of each process", "MiB", _of_processes(lambda one: one.memory_mib)
    )
    yield _chart(samples, "Processor time", "cores", _of_processes(lambda one: one.cores))
    yield _chart(samples, "Live jobs", "jobs", {"live": lambda one: one.live_jobs})
    yield _chart(
        samples,
        "A tick takes",
        "seconds",
        {
            "p50": lambda one: percentile(one.tick_seconds, 0.5),
            "p99": lambda one: percentile(one.tick_seconds, 0.99),
        },
    )
    yield _chart(
        samples, "Statements of a tick", "statements", {"mean": lambda one: one.statements_per_tick}
    )
    yield _chart(
        samples,
        "Answers take, p95",
        "seconds",
        {
            "reads": lambda one: percentile(one.api_seconds, 0.95),
            "reports": lambda one: percentile(one.report_seconds, 0.95),
            "decision to coordinator": lambda one: percentile(one.hearing_seconds, 0.95),
        },
    )
    yield _chart(
        samples,
        "The oldest queued job waits",
        "seconds",
        {"oldest": lambda one: one.oldest_queued_seconds},
    )
    yield _chart(
        samples, "Tables and indexes", "MiB", {"all": lambda one: one.database_bytes / 2**20}
    )


def _of_processes(of: Callable[[Sample], Mapping[str, float]]) -> dict[str, Curve]:
    return {name: (lambda one, name=name: of(one).get(name)) for name in PROCESSES}  # type: ignore[misc]


def _chart(
    samples: Sequence[Sample], title: str, unit: str, curves: Mapping[str, Curve]
) -> frame.Picture:
    series = []
    for slot, (name, value) in enumerate(curves.items()):
        found = ((one.seconds, value(one)) for one in samples)
        points = tuple((x, float(y)) for x, y in found if y is not None)
        series.append(Series(name=name, points=points, slot=slot))
    across = Axis(label="time", unit=Unit.SECONDS, lowest=0.0)
    up = Axis(label=unit, lowest=0.0)
    return LineChart(description=title, series=series, x=across, y=up).drawn()
