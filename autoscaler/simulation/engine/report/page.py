"""The report: a comparison of policies as one HTML file, for a browser without a network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from autoscaler.plots.palette import colour
from autoscaler.plots.units import Unit, written
from autoscaler.simulation.engine.comparison.comparison import FIGURES
from autoscaler.simulation.engine.report import charts
from autoscaler.simulation.engine.report.style import LOGO, SCRIPT, SHEET

if TYPE_CHECKING:
    from autoscaler.plots.frame import Picture
    from autoscaler.simulation.engine.comparison.comparison import Comparison, Figure, Run

Conditions = Sequence[tuple[str, str]]  # names and values of what the runs have in common


def page(comparison: Comparison, *, conditions: Conditions = ()) -> str:
    """The whole file."""
    title = f"{escape(comparison.trace)} · Concertina simulation"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{SHEET}</style></head><body>"
        f"<header>{LOGO}Concertina<button>Light or dark</button></header><main>"
        f"{_heading(comparison)}{_table(comparison)}{_pictures(comparison)}"
        f"{_allocations(comparison)}{_conditions(conditions)}"
        f"</main><script>{SCRIPT}</script></body></html>\n"
    )


def verdict(comparison: Comparison) -> str:
    """Return which policy finishes jobs soonest, in one sentence; empty when there is no choice."""
    means = {
        run.label: mean
        for run in comparison.runs
        if (mean := run.summary.mean_completion_seconds) is not None
    }
    if len(means) <= 1:
        return ""
    best, *_, worst = sorted(means, key=means.__getitem__)
    ratio = means[worst] / means[best]
    return (
        f"Jobs finished soonest under {best}, after {written(means[best], Unit.SECONDS)} on"
        f" average. Under {worst} they took {written(ratio)} times as long"
        f" ({written(means[worst], Unit.SECONDS)})."
    )


def _heading(comparison: Comparison) -> str:
    jobs = max(run.summary.jobs for run in comparison.runs)
    count = len(comparison.runs)
    policies = "one policy" if count == 1 else f"{count} policies"
    return (
        f"<div><h1>{escape(comparison.trace)}</h1>"
        f'<p class="lede"><strong>{jobs:,} jobs</strong> on <strong>{comparison.gpus:,} GPUs'
        f"</strong> under {policies}. {escape(verdict(comparison))}</p></div>"
    )


def _table(comparison: Comparison) -> str:
    heads = "".join(
        f'<th title="{escape(figure.meaning)}">{escape(figure.heading)}</th>' for figure in FIGURES
    )
    best = {figure.attribute: figure.best(comparison.runs) for figure in FIGURES}
    rows = "".join(_row(run, slot, best) for slot, run in enumerate(comparison.runs))
    return (
        '<section class="card"><h2>Policies side by side</h2><p>Best values in green.'
        ' Point at a heading to read what it means.</p><div class="wide"><table>'
        f"<thead><tr><th>policy</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        "</section>"
    )


def _row(run: Run, slot: int, best: dict[str, float | None]) -> str:
    swatch = f'<span class="swatch" style="background:{colour(slot)}"></span>'
    cells = "".join(_cell(figure, run, best[figure.attribute]) for figure in FIGURES)
    return f"<tr><td>{swatch}{escape(run.label)}</td>{cells}</tr>"


def _cell(figure: Figure, run: Run, best: float | None) -> str:
    value = figure.of(run.summary)
    kind = ' class="best"' if best is not None and value == best else ""
    return f"<td{kind}>{written(value, figure.unit)}</td>"


def _pictures(comparison: Comparison) -> str:
    mean, p99 = FIGURES[0], FIGURES[2]
    return "".join(
        (
            _pair(
                _card(mean.meaning, charts.figure_by_policy(comparison, mean)),
                _card(p99.meaning, charts.figure_by_policy(comparison, p99)),
            ),
            _pair(
                _card("Completion times", charts.completion_times(comparison)),
                _card("Jobs waiting for their first start", charts.jobs_waiting(comparison)),
            ),
            _card("GPUs in use", charts.gpus_in_use(comparison)),
        )
    )


def _allocations(comparison: Comparison) -> str:
    sections = []
    for slot, run in enumerate(comparison.runs):
        picture = charts.allocations(run, slot=slot)
        if picture is not None:
            sections.append(
                '<details class="card"><summary>Workers of each job under'
                f' {escape(run.label)}</summary><div class="wide">{picture.inline()}</div>'
                "</details>"
            )
    return "".join(sections)


def _conditions(conditions: Conditions) -> str:
    if not conditions:
        return ""
    entries = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in conditions
    )
    return f'<section class="card"><h2>What was simulated</h2><dl>{entries}</dl></section>'


def _card(title: str, picture: Picture) -> str:
    return (
        f'<section class="card"><h2>{escape(title)}</h2>'
        f'<div class="wide">{picture.inline()}</div></section>'
    )


def _pair(*cards: str) -> str:
    return f'<div class="pair">{"".join(cards)}</div>'
