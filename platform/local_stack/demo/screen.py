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

LINE_SECONDS = 15.0  # between two reports where there is no terminal
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
        parts.append(f"{job.team}/{job.name} arrives {job.arrival}")
    if conductor.is_service_away:
        parts.append("the service is away for a moment; training goes on")
    return Text(" · ".join(parts), style="dim")


def _lines(conductor: Conductor) -> Redraw:
    """Print a job when it changed its state or size, with the reason; else how far all are."""
    shown: dict[str, tuple[str, int]] = {}
    said_at = time.monotonic()

    def redraw() -> None:
        nonlocal said_at
        for job in conductor.documents.values():
            looks = (job["state"], job["workers"])
            if shown.get(job["name"]) != looks:
                say(f"{_line(conductor, job)}  {job['message']}")
            shown[job["name"]] = looks
        if time.monotonic() - said_at >= LINE_SECONDS:
            said_at = time.monotonic()
            for job in conductor.documents.values():
                if job["state"] == "running":
                    say(_line(conductor, job))

    return redraw


def _line(conductor: Conductor, job: Job) -> str:
    name = f"{job['team']}/{job['name']}"
    loss = words.number(job["values"].get("loss"))
    batch = words.number(job["global_batch_size"] or None)
    return (
        f"{conductor.elapsed_seconds:5.0f} s  {name:<25} {job['state']:<10}"
        f" workers {words.workers(job):<4} batch {batch:<4}"
        f" {words.percent(job['progress']):>4}  loss {loss:<8}"
    )
