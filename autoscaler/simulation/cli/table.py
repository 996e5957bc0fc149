"""What does a comparison look like in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from autoscaler.plots.units import written
from autoscaler.simulation.engine.comparison.comparison import FIGURES

if TYPE_CHECKING:
    from autoscaler.simulation.engine.comparison.comparison import Comparison, Figure, Run


def side_by_side(comparison: Comparison) -> Table:
    """One row per figure, one column per candidate; best values in bold green."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column(Text(f"{comparison.trace}, {comparison.gpus} GPUs"))
    for run in comparison.runs:
        table.add_column(Text(run.label), justify="right", overflow="fold")
    for figure in FIGURES:
        best = figure.best(comparison.runs)
        table.add_row(figure.heading, *(_cell(figure, run, best) for run in comparison.runs))
    return table


def _cell(figure: Figure, run: Run, best: float | None) -> Text:
    value = figure.of(run.summary)
    is_best = best is not None and value == best
    return Text(written(value, figure.unit), style="bold green" if is_best else "")
