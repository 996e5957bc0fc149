"""What does a person see while the demo runs? A table that redraws, or a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.documents import Job
from concertina.views.jobs import progress_bar, state
from local_stack.demo.conductor import Conductor
from local_stack.terminal import duration, say

LINE_SECONDS = 10.0  # between two lines where there is no terminal
BOX = "■"
TEAM_STYLES = ("cyan", "magenta", "yellow")

Redraw = Callable[[], None]


@contextmanager
def screen(conductor: Conductor) -> Iterator[Redraw]:
    """Show the demo; the yielded function shows how it stands now."""
    if sys.stdout.isatty():
        with _live(conductor) as redraw:
            yield redraw
    else:
        yield _lines(conductor)


@contextmanager
def _live(conductor: Conductor) -> Iterator[Redraw]:
    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda: live.update(picture(conductor), refresh=True)


def picture(conductor: Conductor) -> RenderableType:
    """The demo at this moment."""
    return Group(_usage(conductor), "", jobs_table(conductor), "", _footer(conductor))


def jobs_table(conductor: Conductor) -> Table:
    """One row for each job that was submitted."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    for name in ("Job", "Team", "State", "Workers", "Batch", "Progress", "Loss"):
        table.add_column(name, no_wrap=True)
    table.add_column("Why", ratio=1, overflow="fold")
    for job in conductor.documents.values():
        table.add_row(
            job["name"],
            job["team"],
            state(job["state"]),
            words.workers(job),
            words.number(job["global_batch_size"] or None),
            progress_bar(job),
            words.number(job["values"].get("loss")),
            job["message"],
        )
    return table


def _usage(conductor: Conductor) -> Text:
    """The slots as boxes in the colours of the teams that use them."""
    used = dict.fromkeys(sorted({job["team"] for job in conductor.documents.values()}), 0)
    for job in conductor.documents.values():
        used[job["team"]] += job["workers"]
    line = Text("Slots  ")
    for (_, count), style in zip(used.items(), TEAM_STYLES, strict=False):
        line.append((BOX + " ") * count, style=style)
    line.append("□ " * max(conductor.slots - sum(used.values()), 0), style="dim")
    for (team, count), style in zip(used.items(), TEAM_STYLES, strict=False):
        line.append(f"  {team} {count}", style=style)
    return line


def _footer(conductor: Conductor) -> Text:
    parts = [duration(conductor.elapsed_seconds)]
    if conductor.waiting:
        job = conductor.waiting[0]
        seconds = max(job.submit_at_seconds - conductor.elapsed_seconds, 0)
        parts.append(f"{job.team}/{job.name} arrives in {seconds:.0f} s")
    if conductor.is_service_away:
        parts.append("the service is away for a moment; training goes on")
    return Text(" · ".join(parts), style="dim")


def _lines(conductor: Conductor) -> Redraw:
    """Print a job when it changed its state or size, and all of them every ten seconds."""
    shown: dict[str, tuple[str, int]] = {}
    said_at = 0.0

    def redraw() -> None:
        nonlocal said_at
        is_time = time.monotonic() - said_at >= LINE_SECONDS
        for job in conductor.documents.values():
            key = (job["state"], job["workers"])
            if shown.get(job["name"]) != key or (is_time and job["state"] == "running"):
                say(f"{conductor.elapsed_seconds:5.0f} s  {_line(job)}")
            shown[job["name"]] = key
        if is_time:
            said_at = time.monotonic()

    return redraw


def _line(job: Job) -> str:
    loss = words.number(job["values"].get("loss"))
    return (
        f"{job['team']}/{job['name']:<17} {job['state']:<10} workers {words.workers(job):<4}"
        f" batch {words.number(job['global_batch_size'] or None):<5}"
        f" {words.percent(job['progress']):>4}  loss {loss:<7} {job['message']}"
    )
