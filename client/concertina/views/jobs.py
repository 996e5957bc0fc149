"""What does a list of jobs look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from concertina.documents import Job

STATE_STYLES: Final = {
    "queued": "yellow",
    "starting": "cyan",
    "running": "bold cyan",
    "rescaling": "bold magenta",
    "paused": "yellow",
    "stopping": "yellow",
    "completed": "bold green",
    "failed": "bold red",
    "cancelled": "bright_black",
}


def state(name: str) -> Text:
    return Text(name, style=STATE_STYLES.get(name, ""))


def jobs_table(jobs: Iterable[Job]) -> FittingTable:
    """One row per job, for `ps`; what is left out first, `describe` tells too."""
    names = ("ID", "JOB", "STATE", "WORKERS", "BATCH", "DONE", "LEFT", "AGE", "WHY")
    table = FittingTable(*names, first_to_go=("ID", "BATCH", "AGE", "LEFT", "DONE", "WORKERS"))
    for job in jobs:
        cells = _cells(job)
        table.add_row(*(cells[name] for name in names))
    return table


def _cells(job: Job) -> dict[str, RenderableType]:
    return {
        "ID": job["id"],
        "JOB": f"{job['team']}/{job['name']}",
        "STATE": state(job["state"]),
        "WORKERS": words.workers(job),
        "BATCH": words.number(job["global_batch_size"] or None),
        "DONE": words.percent(job["progress"]),
        "LEFT": words.left(job["eta_seconds"]),
        "AGE": words.age(job["submitted_at"]),
        "WHY": words.first_line(job["message"]),
    }


def live_table(jobs: Iterable[Job]) -> FittingTable:
    """One row per job with a bar, for `top`."""
    table = FittingTable(
        *("JOB", "STATE", "WORKERS", "BATCH", "PROGRESS", "SPEED", "METRIC", "LEFT", "WHY"),
        first_to_go=("BATCH", "METRIC", "SPEED", "LEFT", "PROGRESS", "WORKERS"),
    )
    for job in jobs:
        table.add_row(
            f"{job['team']}/{job['name']}",
            state(job["state"]),
            f"{words.workers(job)} of {job['max_workers']}",
            words.number(job["global_batch_size"] or None),
            progress_bar(job),
            words.speed(job["samples_per_second"]),
            words.metric(job),
            words.left(job["eta_seconds"]),
            words.first_line(job["message"]),
        )
    return table


def progress_bar(job: Job, width: int = 10) -> RenderableType:
    """A bar with its percentage, for a job that told how long it is."""
    if job["progress"] is None:
        return words.NOTHING
    grid = Table.grid(padding=(0, 1, 0, 0))
    bar = ProgressBar(total=1.0, completed=job["progress"], width=width)
    grid.add_row(bar, words.percent(job["progress"]))
    return grid
