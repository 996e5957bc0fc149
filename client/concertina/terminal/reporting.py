"""How is a running job shown to whoever waits for it?

Events are lines that stay. Progress is one line that is redrawn on a terminal, and in a log file
a line now and then.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from rich.live import Live
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.views.job.description import what
from concertina.views.jobs import progress_bar, state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from concertina.connection.retrying import Clock
    from concertina.documents import Event, Job

QUIET_SECONDS: Final = 30.0  # between progress lines in a log file


class WatchReporter(Protocol):
    """Is told what `Client.wait` sees."""

    seconds: float  # between two looks at the progress

    def event(self, event: Event) -> None: ...

    def progress(self, job: Job) -> None: ...


@contextmanager
def reporter(console: Console, clock: Clock) -> Iterator[WatchReporter]:
    """The reporter that fits the console."""
    if not console.is_terminal:
        yield LineReporter(console, clock)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield LiveReporter(live)


class LineReporter:
    """Plain lines, each with its time: for a CI log."""

    seconds = QUIET_SECONDS

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._told_at: float | None = None

    def event(self, event: Event) -> None:
        self._console.print(event_line(event), soft_wrap=True)

    def progress(self, job: Job) -> None:
        now = self._clock.now()
        if self._told_at is not None and now - self._told_at < QUIET_SECONDS:
            return
        self._told_at = now
        self._console.print(f"         {progress_line(job)}", soft_wrap=True)


class LiveReporter:
    """Event lines above one line of progress that is redrawn."""

    seconds = 2.0

    def __init__(self, live: Live) -> None:
        self._live = live

    def event(self, event: Event) -> None:
        self._live.console.print(event_line(event))

    def progress(self, job: Job) -> None:
        self._live.update(_live_line(job))


def event_line(event: Event) -> Text:
    """Return a line like `14:02:31 running → rescaling  shrinks from 3 to 2`."""
    line = Text(f"{words.clock_time(event['at'])} ", style="bright_black")
    line.append(what(event), style="default bold")
    if event["message"]:
        line.append(f"  {words.first_line(event['message'])}", style="default")
    return line


def progress_line(job: Job) -> str:
    """Return one like `running, 3 workers, batch 256, 42% done, 1 min 05 s left, loss 0.31`."""
    facts = [job["state"], f"{words.workers(job)} workers"]
    if job["global_batch_size"]:
        facts.append(f"batch {words.number(job['global_batch_size'])}")
    if job["progress"] is not None:
        facts.append(f"{words.percent(job['progress'])} done")
    if job["eta_seconds"] is not None:
        facts.append(f"{words.left(job['eta_seconds'])} left")
    if job["values"]:
        facts.append(words.metric(job))
    return ", ".join(facts)


def outcome_line(job: Job) -> Text:
    """Return how a final job went, in one line."""
    facts = [f"after {words.duration(job['completion_seconds'])}"]
    facts.append(f"{job['rescales']} rescales")
    facts.append(f"longest stall {words.duration(job['longest_stall_seconds'])}")
    facts.append(f"GPU time {words.duration(job['gpu_seconds'])}")
    if job["values"]:
        facts.append(words.metric(job))
    line = Text.assemble(f"{job['team']}/{job['name']} ", state(job["state"]))
    return line.append(f" {', '.join(facts)}.", style="default")


def _live_line(job: Job) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(progress_bar(job, width=30), progress_line(job))
    return grid
