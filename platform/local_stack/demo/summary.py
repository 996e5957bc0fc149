"""What came out of the demo? One row a job, the machine's use, and whether all is well."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one job."""

    planned: DemoJob
    job: Job

    @property
    def reached(self) -> float | None:
        """The final value of what the job is judged by."""
        return self.job["values"].get(self.planned.bound.value)

    @property
    def is_good(self) -> bool:
        """Whether it completed and learned something."""
        return self.job["state"] == "completed" and self.planned.bound.is_kept(self.reached)


def show(outcomes: Sequence[Outcome], *, slots: int, elapsed_seconds: float) -> bool:
    """Print the summary; whether every job completed within its bound."""
    console = Console(highlight=False)
    console.print(_table(outcomes))
    console.print(_totals(outcomes, slots, elapsed_seconds))
    bad = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in bad:
        console.print(Text(f"✗ {outcome.job['name']}: {_complaint(outcome)}", style="red"))
    if not bad:
        console.print(Text("✓ All jobs completed and learned what they should.", style="green"))
    return not bad


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(title="What came out of it", title_justify="left", header_style="bold")
    table.add_column("Job", no_wrap=True)
    table.add_column("Team")
    table.add_column("Outcome")
    for name in ("Completed in", "Rescales", "Longest stall", "GPU-hours", "Result"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        job, bound = outcome.job, outcome.planned.bound
        result = f"{bound.value} {words.number(outcome.reached)} ({bound})"
        table.add_row(
            job["name"],
            job["team"],
            state(job["state"]),
            words.duration(job["completion_seconds"]),
            str(job["rescales"]),
            words.duration(job["longest_stall_seconds"]),
            f"{job['gpu_seconds'] / SECONDS_PER_HOUR:.3f}",
            Text(f"{result} {'ok' if outcome.is_good else 'failed'}", style=_style(outcome)),
        )
    return table


def _totals(outcomes: Sequence[Outcome], slots: int, elapsed_seconds: float) -> str:
    gpu_seconds = sum(outcome.job["gpu_seconds"] for outcome in outcomes)
    utilisation = gpu_seconds / (slots * elapsed_seconds)
    rescales = sum(outcome.job["rescales"] for outcome in outcomes)
    stall = max(outcome.job["longest_stall_seconds"] for outcome in outcomes)
    return (
        f"{duration(elapsed_seconds)} on {slots} slots, {utilisation:.0%} used;"
        f" {rescales} rescales, none longer than {words.duration(stall)}."
    )


def _style(outcome: Outcome) -> str:
    return "green" if outcome.is_good else "red"


def _complaint(outcome: Outcome) -> str:
    if outcome.job["state"] != "completed":
        return f"{outcome.job['state']}: {outcome.job['message']}"
    bound = outcome.planned.bound
    return f"its {bound.value} is {words.number(outcome.reached)}, and should be {bound}"
