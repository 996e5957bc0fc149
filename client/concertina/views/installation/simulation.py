"""What does a simulation look like? A row for each policy, and cluster, that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from concertina.documents import Result, Run

_COLUMNS: Final = (
    *("TRIED", "DONE", "COMPLETION", "P99", "WAIT", "GPU TIME", "UTILISATION", "RESCALES"),
    *("FAIRNESS", "DEADLINES"),
)
_FIRST_TO_GO: Final = ("RESCALES", "FAIRNESS", "DEADLINES", "GPU TIME", "DONE", "P99")


def simulation_table(result: Result) -> FittingTable:
    """Return a table of what matters of each run; `-o json` and `-o csv` have all figures."""
    table = FittingTable(*_COLUMNS, first_to_go=_FIRST_TO_GO)
    for run in result["runs"]:
        table.add_row(*_cells(run))
    return table


def simulation_sentences(result: Result) -> list[str]:
    """Say what was replayed on what, and what came out."""
    gpus = f"{result['gpus']} GPU{'' if result['gpus'] == 1 else 's'}"
    return [f"{result['trace']} on {gpus}.", result["verdict"]]


def _cells(run: Run) -> tuple[str, ...]:
    return (
        run["label"],
        f"{run['done']} of {run['jobs']}",
        words.duration(run["mean_completion_seconds"]),
        words.duration(run["p99_completion_seconds"]),
        words.duration(run["mean_wait_seconds"]),
        f"{run['gpu_hours']:.1f} GPU-h",
        words.percent(run["utilisation"]),
        f"{run['rescales_per_job']:.1f}",
        words.number(run["worst_fairness"]),
        words.percent(run["deadlines_met"]),
    )
