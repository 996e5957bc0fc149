"""What came out of the demo? One row a job, the machine's use, and whether all is well."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.documents import Job
from concertina.views.jobs import state
from local_stack.demo.workload import DemoJob
from local_stack.terminal import duration

SECONDS_PER_HOUR = 3600
PIPE_WIDTH = 120  # where there is no terminal to measure
LEFT = {"Job", "Team", "Outcome"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJobOutcome:
    """What became of one job."""

    planned: DemoJob
    job: Job

    @property
    def reached(self) -> float | None:
        """The final value of what the job is judged by."""
        return self.job["values"].get(self.planned.bound.value)

    @property
    def is_good(self) -> bool:
        """True if it completed and learned something."""
        return self.job["state"] == "completed" and self.planned.bound.is_kept(self.reached)


def show(outcomes: Sequence[DemoJobOutcome], *, slots: int, elapsed_seconds: float) -> bool:
    """Print the summary; whether every job completed within its bound."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print()
    console.print(_table(outcomes))
    console.print()
    console.print(_totals(outcomes, slots, elapsed_seconds))
    bad = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in bad:
        console.print(Text(f"✗ {outcome.job['name']}: {_complaint(outcome)}", style="red"))
    if not bad:
        console.print(Text("✓ All jobs completed and learned what they should.", style="green"))
    return not bad


def _table(outcomes: Sequence[DemoJobOutcome]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("Job", "Team", "Outcome", "Took", "Rescales", "Longest stall", "GPU-hours"):
        table.add_column(name, no_wrap=True, justify="left" if name in LEFT else "right")
    table.add_column("Result")
    for outcome in outcomes:
        job, bound = outcome.job, outcome.planned.bound
        table.add_row(
            job["name"],
            job["team"],
            state(job["state"]),
            words.duration(job["completion_seconds"]),
            str(job["rescales"]),
            words.duration(job["longest_stall_seconds"]),
            f"{job['gpu_seconds'] / SECONDS_PER_HOUR:.3f}",
            Text(
                f"{bound.value} {words.number(outcome.reached)} ({bound}):"
                f" {'ok' if outcome.is_good else 'failed'}",
                style="green" if outcome.is_good else "red",
            ),
        )
    return table


def _totals(outcomes: Sequence[DemoJobOutcome], slots: int, elapsed_seconds: float) -> str:
    gpu_seconds = sum(outcome.job["gpu_seconds"] for outcome in outcomes)
    utilisation = gpu_seconds / (slots * elapsed_seconds)
    rescales = sum(outcome.job["rescales"] for outcome in outcomes)
    stall = max(outcome.job["longest_stall_seconds"] for outcome in outcomes)
    return (
        f"{duration(elapsed_seconds)} on {slots} slots, {utilisation:.0%} used;"
        f" {rescales} rescales, none longer than {words.duration(stall)}."
    )


def _complaint(outcome: DemoJobOutcome) -> str:
    if outcome.job["state"] != "completed":
        return f"{outcome.job['state']}: {outcome.job['message']}"
    bound = outcome.planned.bound
    return f"its {bound.value} is {words.number(outcome.reached)}, and should be {bound}"
