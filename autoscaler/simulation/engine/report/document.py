"""A comparison as plain values, for programs: what JSON can hold, with names for all figures."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autoscaler.simulation.engine.report.page import verdict

if TYPE_CHECKING:
    from autoscaler.simulation.engine.comparison.comparison import Comparison


def document(comparison: Comparison) -> dict[str, Any]:
    """Seconds, shares and counts, unrounded; null where there is no figure."""
    return {
        "trace": comparison.trace,
        "gpus": comparison.gpus,
        "verdict": verdict(comparison),
        "runs": [{"label": run.label, **asdict(run.summary)} for run in comparison.runs],
    }
